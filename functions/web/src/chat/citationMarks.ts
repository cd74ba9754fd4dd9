import type { Element, ElementContent, Parents, Root } from "hast";

/** `[3]`, or several as `[1, 2]`. */
const MARK = /\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g;
const NO_MARKS_IN = new Set(["a", "code", "pre", "button"]);

/**
 * Turns `[n]` in the text of an answer into `<button data-citation="n">`. To be applied after sanitizing, which lets
 * no button of the model's own pass.
 */
export function citationMarks() {
  return (tree: Root): void => mark(tree);
}

function mark(parent: Parents): void {
  parent.children = parent.children.flatMap((child) => {
    if (child.type === "text") return split(child.value);
    if (child.type === "element" && !NO_MARKS_IN.has(child.tagName)) mark(child);
    return [child as ElementContent];
  });
}

function split(text: string): ElementContent[] {
  const parts: ElementContent[] = [];
  let end = 0;
  for (const match of text.matchAll(MARK)) {
    if (match.index > end) parts.push({ type: "text", value: text.slice(end, match.index) });
    parts.push(...(match[1] ?? "").split(/[,;]/).map((number) => button(Number(number))));
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ type: "text", value: text.slice(end) });
  return parts;
}

function button(number: number): Element {
  const children: ElementContent[] = [{ type: "text", value: String(number) }];
  return { type: "element", tagName: "button", properties: { dataCitation: number }, children };
}
