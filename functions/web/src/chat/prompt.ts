export const PROMPT_ID = "prompt";

export function focusPrompt(): void {
  document.getElementById(PROMPT_ID)?.focus();
}
