import { Problem } from "../api/problem";
import { text } from "../i18n/language";
import { Store } from "../store";

export interface Toast {
  id: number;
  title: string;
  detail: string;
}

const SHOWN_MS = 15_000;
const MOST = 4;

export const toasts = new Store<readonly Toast[]>([]);
let lastId = 0;

/** Tells the user what happened and what to do. The same words are not said twice at a time. */
export function tell(title: string, detail: string): void {
  if (toasts.get().some((toast) => toast.title === title && toast.detail === detail)) return;
  const toast = { id: ++lastId, title, detail };
  toasts.update((shown) => [...shown, toast].slice(-MOST));
  setTimeout(() => dismiss(toast.id), SHOWN_MS);
}

export function dismiss(id: number): void {
  toasts.update((shown) => shown.filter((toast) => toast.id !== id));
}

export function tellProblem(error: unknown): void {
  if (error instanceof Problem) return tell(error.title, error.detail);
  tell(text("problem.unexpected"), text("problem.unexpectedHint"));
}

/** Runs what a click began; a failure becomes a toast. The answer says whether it went well. */
export async function attempt(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    tellProblem(error);
    return false;
  }
}
