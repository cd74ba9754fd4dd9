import type { Section } from "../api/types";
import { useText } from "../i18n/language";
import { Icon } from "../ui/Icon";

const DEEPEST = 4;

interface OutlineProps {
  sections: readonly Section[];
  page: number | null;
  onPage(page: number): void;
}

/** The file's headings; one with a page opens it. */
export function Outline({ sections, page, onPage }: OutlineProps) {
  const t = useText();
  const current = sections.findLast(
    (section) => section.startPage !== null && page !== null && section.startPage <= page,
  );
  return (
    <details className="outline">
      <summary>
        <Icon name="chevron" />
        {t("preview.outline")}
      </summary>
      <ol>
        {sections.map((section) => (
          <li key={section.id} data-level={Math.min(section.level, DEEPEST)}>
            <button
              type="button"
              disabled={section.startPage === null}
              aria-current={section === current ? "location" : undefined}
              onClick={() => section.startPage !== null && onPage(section.startPage)}
            >
              <span>{section.title}</span>
              <span className="outline-page">{section.startPage}</span>
            </button>
          </li>
        ))}
      </ol>
    </details>
  );
}
