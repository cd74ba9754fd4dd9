import { chooseLanguage, language, useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "./Icon";
import { nextTheme, theme } from "./theme";

export function LanguageButton() {
  const t = useText();
  const current = useStore(language);
  const label = t("bar.language");
  return (
    <button
      type="button"
      className="icon-button language-button"
      aria-label={label}
      title={label}
      onClick={() => chooseLanguage(current === "de" ? "en" : "de")}
    >
      {current.toUpperCase()}
    </button>
  );
}

export function ThemeButton() {
  const t = useText();
  const current = useStore(theme);
  const label = t(`bar.theme.${current}`);
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} onClick={nextTheme}>
      <Icon name={current} />
    </button>
  );
}
