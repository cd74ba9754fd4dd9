import type { FileItem, Folder } from "../api/types";

/** A name that can follow an `@`: a file, or a folder written with a slash at its end. */
export interface Mentionable {
  label: string;
  fileId: string | null;
}

/** The `@…` that is being typed at the caret. */
export interface Mention {
  start: number;
  query: string;
}

const MOST = 8;

export function mentionAt(text: string, caret: number): Mention | null {
  const match = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, caret));
  return match ? { start: caret - (match[1] ?? "").length - 1, query: match[1] ?? "" } : null;
}

/** Names that hold the query, those beginning with it first. */
export function mentionables(files: readonly FileItem[], folders: readonly Folder[], query: string): Mentionable[] {
  const sought = query.toLowerCase();
  const all = [
    ...files.map((file) => ({ label: file.fileName, fileId: file.id })),
    ...folders.map((folder) => ({ label: `${folder.name}/`, fileId: null })),
  ];
  const found = all.filter(({ label }) => label.toLowerCase().includes(sought));
  const rank = ({ label }: Mentionable) => (label.toLowerCase().startsWith(sought) ? 0 : 1);
  return found.toSorted((a, b) => rank(a) - rank(b) || a.label.localeCompare(b.label)).slice(0, MOST);
}

/** The text with the mention completed, and where the caret goes. */
export function completed(
  text: string,
  caret: number,
  mention: Mention,
  label: string,
): { text: string; caret: number } {
  const before = `${text.slice(0, mention.start)}@${label} `;
  return { text: before + text.slice(caret).replace(/^ /, ""), caret: before.length };
}
