import { Store, useStore } from "../store";
import { dictionary, type Language, type TextKey } from "./dictionary";

const KEY = "werkbank.language";
const LOCALES: Record<Language, string> = { en: "en-CH", de: "de-CH" };

export type Parameters = Readonly<Record<string, string | number>>;

function preferred(): Language {
  const chosen = globalThis.localStorage?.getItem(KEY);
  if (chosen === "en" || chosen === "de") return chosen;
  return globalThis.navigator?.language.toLowerCase().startsWith("de") ? "de" : "en";
}

/** The page's language: the user's choice, else the browser's. */
export const language = new Store<Language>(preferred());

export function chooseLanguage(next: Language): void {
  localStorage.setItem(KEY, next);
  document.documentElement.lang = next;
  language.set(next);
}

export function locale(): string {
  return LOCALES[language.get()];
}

export function text(key: TextKey, parameters: Parameters = {}): string {
  return dictionary[key][language.get()].replace(/\{(\w+)\}/g, (whole, name: string) =>
    String(parameters[name] ?? whole),
  );
}

/** `text` for components: they render again when the language changes. */
export function useText(): typeof text {
  useStore(language);
  return text;
}
