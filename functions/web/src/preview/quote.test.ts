import { describe, expect, it } from "vitest";
import { highlight } from "./quote";

describe("highlight", () => {
  it("finds a quote across line breaks and with its dots", () => {
    const found = highlight("Ein metrischer\nRaum (X, d) ist …", "… metrischer Raum (X, d) …");
    expect(found).toEqual({ before: "Ein ", quote: "metrischer\nRaum (X, d)", after: " ist …" });
  });

  it("marks nothing without a match", () => {
    for (const quote of [null, "", "…", "absent"])
      expect(highlight("Text", quote)).toEqual({ before: "Text", quote: "", after: "" });
  });
});
