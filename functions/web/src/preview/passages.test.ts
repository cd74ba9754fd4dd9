import { describe, expect, it } from "vitest";
import type { ContentObject } from "../api/types";
import { passagesOf } from "./passages";

function page(...data: string[]): ContentObject[] {
  return data.map((text, sequence) => ({
    sequence,
    data: text,
    contentType: "text",
    ref: { containerPath: "f", location: "" },
  }));
}

function cited(objects: ContentObject[], quote: string | null): string[] {
  return passagesOf(objects, quote).flatMap((passage) => (passage.cited ? [passage.text] : []));
}

describe("passagesOf", () => {
  const definition = page(
    "### 1.2 Metrische Räume\n\nEine Abbildung d\nheisst Metrik.\n\n→",
    "Das Paar (X, d) …\n\nBemerkung",
  );

  it("finds a quote over blocks and objects, whatever its line breaks and signs", () => {
    const quote = "… Metrische Räume Eine Abbildung d heisst Metrik. → Das Paar (X, d)";
    expect(cited(definition, quote)).toEqual([
      "### 1.2 Metrische Räume",
      "Eine Abbildung d\nheisst Metrik.",
      "→",
      "Das Paar (X, d) …",
    ]);
  });

  it("finds a quote within one block", () => {
    expect(cited(definition, "heisst Metrik")).toEqual(["Eine Abbildung d\nheisst Metrik."]);
  });

  it("finds the blocks of a quote that goes over to another page, but no accidental bits", () => {
    const quote = "from the page before. Jede Metrik erzeugt eine Topologie. And d.";
    expect(cited(page("Jede Metrik erzeugt eine Topologie.\n\nd"), quote)).toEqual([
      "Jede Metrik erzeugt eine Topologie.",
    ]);
  });

  it("marks nothing without a match, and keeps pictures as empty blocks", () => {
    for (const quote of [null, "", "…", "absent"]) expect(cited(definition, quote)).toEqual([]);
    expect(passagesOf(page(""), "x")).toEqual([{ key: "0/0", text: "", label: null, cited: false }]);
  });
});
