import type { FileItem, Folder } from "../api/types";

/** The way from the top to a folder; an unknown folder is the top. */
export function pathTo(folders: readonly Folder[], folderId: string | null): Folder[] {
  const path: Folder[] = [];
  for (let id = folderId; id !== null && path.length <= folders.length;) {
    const folder = folders.find((each) => each.id === id);
    if (!folder) break;
    path.unshift(folder);
    id = folder.parentId;
  }
  return path;
}

export interface FileQuery {
  folderId: string | null;
  search: string;
  tag: string | null;
}

/** What the list shows, the newest first: a search or a tag looks everywhere, otherwise it is the open folder's own. */
export function visibleFiles(files: readonly FileItem[], { folderId, search, tag }: FileQuery): FileItem[] {
  const sought = search.trim().toLowerCase();
  const everywhere = sought !== "" || tag !== null;
  const found = files.filter(
    (file) =>
      (everywhere || file.folderId === folderId) &&
      (tag === null || file.tags.includes(tag)) &&
      (file.fileName.toLowerCase().includes(sought) || file.tags.some((each) => each.toLowerCase().includes(sought))),
  );
  return found.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
}

/** `" a, b ,, a"` → `["a", "b"]`. */
export function tagsOf(text: string): string[] {
  return [
    ...new Set(
      text
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
    ),
  ];
}
