import { describe, expect, it } from "vitest";
import type { FileItem } from "../api/types";
import { pathTo, tagsOf, visibleFiles } from "./folderTree";
import { mimeTypeOf } from "./mimeType";

const folders = [
  { id: "a", name: "A", parentId: null },
  { id: "b", name: "B", parentId: "a" },
];

function file(fileName: string, folderId: string | null, tags: string[] = []): FileItem {
  return { id: fileName, fileName, folderId, tags, createdAt: "" } as unknown as FileItem;
}

describe("folders", () => {
  it("finds the way from the top, even when folders form a ring", () => {
    expect(pathTo(folders, "b").map((folder) => folder.name)).toEqual(["A", "B"]);
    expect(pathTo(folders, "gone")).toEqual([]);
    expect(pathTo([{ id: "r", name: "R", parentId: "r" }], "r").length).toBeLessThan(3);
  });

  it("shows the open folder, but searches everywhere", () => {
    const files = [file("one.pdf", null), file("two.pdf", "a", ["tax"])];
    const names = (search: string, tag: string | null) =>
      visibleFiles(files, { folderId: null, search, tag }).map((each) => each.fileName);
    expect(names("", null)).toEqual(["one.pdf"]);
    expect(names("TWO", null)).toEqual(["two.pdf"]);
    expect(names("tax", null)).toEqual(["two.pdf"]);
    expect(names("", "tax")).toEqual(["two.pdf"]);
  });

  it("reads tags from a line", () => {
    expect(tagsOf(" a, b ,, a")).toEqual(["a", "b"]);
  });
});

describe("mimeTypeOf", () => {
  it("trusts extensions it knows, then the browser", () => {
    expect(mimeTypeOf({ name: "Notes.MD", type: "" })).toBe("text/markdown");
    expect(mimeTypeOf({ name: "t.csv", type: "application/vnd.ms-excel" })).toBe("text/csv");
    expect(mimeTypeOf({ name: "a.pdf", type: "application/pdf" })).toBe("application/pdf");
    expect(mimeTypeOf({ name: "a", type: "" })).toBe("application/octet-stream");
  });
});
