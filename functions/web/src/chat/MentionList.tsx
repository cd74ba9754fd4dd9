import { useText } from "../i18n/language";
import { Icon } from "../ui/Icon";
import type { Mentionable } from "./mentions";

interface MentionListProps {
  id: string;
  found: readonly Mentionable[];
  active: number;
  onChoose(chosen: Mentionable): void;
}

export function MentionList({ id, found, active, onChoose }: MentionListProps) {
  const t = useText();
  return (
    <ul id={id} className="mentions" role="listbox" aria-label={t("composer.mentions")}>
      {found.map((each, index) => (
        <li
          key={`${each.fileId}${each.label}`}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          // Before the box loses the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(each);
          }}
        >
          <Icon name={each.fileId ? "file" : "folder"} />
          <span>{each.label}</span>
        </li>
      ))}
    </ul>
  );
}
