/** What the user has typed and attached but not sent, kept per conversation over a reload of the tab. */
export interface Draft {
  text: string;
  fileIds: readonly string[];
}

export const EMPTY_DRAFT: Draft = { text: "", fileIds: [] };

export function loadDraft(workflowId: string | null): Draft {
  const stored = sessionStorage.getItem(key(workflowId));
  return stored ? (JSON.parse(stored) as Draft) : EMPTY_DRAFT;
}

export function saveDraft(workflowId: string | null, draft: Draft): void {
  if (draft.text || draft.fileIds.length > 0) sessionStorage.setItem(key(workflowId), JSON.stringify(draft));
  else sessionStorage.removeItem(key(workflowId));
}

/** A question that was not sent comes back before what was typed meanwhile. */
export function mergeDrafts(unsent: Draft, typed: Draft): Draft {
  const text = [unsent.text, typed.text].filter((part) => part.trim()).join("\n\n");
  return { text, fileIds: [...new Set([...unsent.fileIds, ...typed.fileIds])] };
}

function key(workflowId: string | null): string {
  return `werkbank.draft.${workflowId ?? "new"}`;
}
