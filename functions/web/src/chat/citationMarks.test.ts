import type { Root } from "hast";
import { describe, expect, it } from "vitest";
import { citationMarks } from "./citationMarks";

function marked(text: string, tagName = "p"): string {
  const tree: Root = {
    type: "root",
    children: [{ type: "element", tagName, properties: {}, children: [{ type: "text", value: text }] }],
  };
  citationMarks()(tree);
  const [parent] = tree.children;
  if (parent?.type !== "element") throw new Error("no element");
  return parent.children
    .map((child) =>
      child.type === "element" ? `<${child.properties.dataCitation}>` : child.type === "text" ? child.value : "",
    )
    .join("");
}

describe("citationMarks", () => {
  it("marks single, neighbouring and joined numbers", () => {
    expect(marked("So it is [1], and so [2][3]. Or [4, 5]")).toBe("So it is <1>, and so <2><3>. Or <4><5>");
  });

  it("leaves other brackets and code alone", () => {
    expect(marked("[x] [1234] [] [1")).toBe("[x] [1234] [] [1");
    expect(marked("list[0]", "code")).toBe("list[0]");
  });
});
