import { chooseLanguage, language, useText } from "../i18n/language";
import { useStore } from "../store";
import { IconButton } from "./IconButton";
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
  return <IconButton icon={current} label={label} onClick={nextTheme} />;
}
