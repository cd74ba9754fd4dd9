import { describe, expect, it } from "vitest";
import type { FileItem } from "../api/types";
import { mergeDrafts } from "./draft";
import { completed, mentionables, mentionAt } from "./mentions";
import { configOf } from "./runOptions";

function file(fileName: string): FileItem {
  return { id: `id of ${fileName}`, fileName } as FileItem;
}

describe("mentions", () => {
  it("sees a mention only at the caret and after a space", () => {
    expect(mentionAt("Look at @rep", 12)).toEqual({ start: 8, query: "rep" });
    expect(mentionAt("@", 1)).toEqual({ start: 0, query: "" });
    expect(mentionAt("me@work", 7)).toBeNull();
    expect(mentionAt("@rep and", 8)).toBeNull();
  });

  it("offers names that begin with the query first, folders with a slash", () => {
    const found = mentionables(
      [file("my report.pdf"), file("Report.pdf")],
      [{ id: "f", name: "reports", parentId: null }],
      "rep",
    );
    expect(found.map((each) => each.label)).toEqual(["Report.pdf", "reports/", "my report.pdf"]);
  });

  it("completes in the middle of the text", () => {
    const mention = { start: 3, query: "re" };
    expect(completed("In @re what?", 6, mention, "a.pdf")).toEqual({ text: "In @a.pdf what?", caret: 10 });
  });
});

describe("drafts", () => {
  it("puts an unsent question before what was typed meanwhile", () => {
    const merged = mergeDrafts({ text: "First", fileIds: ["a"] }, { text: "Second", fileIds: ["a", "b"] });
    expect(merged).toEqual({ text: "First\n\nSecond", fileIds: ["a", "b"] });
    expect(mergeDrafts({ text: "First", fileIds: [] }, { text: "", fileIds: [] }).text).toBe("First");
  });
});

describe("configOf", () => {
  it("sends only limits that make sense", () => {
    expect(configOf({ maxCostChf: "0,05", maxRounds: "3", model: "m" })).toEqual({
      maxCostCHF: "0.05",
      maxRounds: 3,
      model: "m",
    });
    expect(configOf({ maxCostChf: "-1", maxRounds: "2.5", model: "" })).toEqual({});
  });
});
