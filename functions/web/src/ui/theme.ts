import { Store } from "../store";

export type Theme = "system" | "light" | "dark";

const KEY = "werkbank.theme";
const ORDER: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export const theme = new Store<Theme>(stored());

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

export function nextTheme(): void {
  theme.update((current) => ORDER[current]);
  localStorage.setItem(KEY, theme.get());
  applyTheme();
}
