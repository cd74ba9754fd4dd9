import { useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "./Icon";
import { IconButton } from "./IconButton";
import { dismiss, toasts } from "./toasts";

export function Toasts() {
  const t = useText();
  return (
    <div className="toasts" role="alert">
      {useStore(toasts).map(({ id, title, detail }) => (
        <div className="toast" key={id} data-testid="problem-toast">
          <Icon name="alert" />
          <div>
            <strong>{title}</strong>
            <p>{detail}</p>
          </div>
          <IconButton icon="close" label={t("common.close")} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
