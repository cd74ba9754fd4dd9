import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Citation } from "../api/types";
import { Panels } from "./panels";

const source: Citation = { number: 1, fileId: null, fileName: "Page", place: "example.org", quote: "", ref: {} as Citation["ref"] };

describe("citations", () => {
  const open = vi.fn();
  beforeEach(() => {
    vi.stubGlobal("window", { open });
    vi.stubGlobal("document", { activeElement: null });
    vi.stubGlobal("HTMLElement", class {});
  });
  afterEach(() => {
    open.mockReset();
    vi.unstubAllGlobals();
  });

  it("open a page of the web in a tab that knows nothing of this one", () => {
    const panels = new Panels();
    panels.openCitation({ ...source, url: "https://example.org/a" });
    expect(open).toHaveBeenCalledWith("https://example.org/a", "_blank", "noopener,noreferrer");
    expect(panels.preview.get()).toBeNull();
  });

  it("never open what is no address of the web", () => {
    new Panels().openCitation({ ...source, url: "javascript:alert(1)" });
    expect(open).not.toHaveBeenCalled();
  });

  it("show the cited place of a file beside the answer", () => {
    const panels = new Panels();
    panels.openCitation({ ...source, fileId: "f", ref: { pageIndex: 5 } as Citation["ref"] });
    expect(panels.preview.get()).toMatchObject({ fileId: "f", page: 5 });
  });
});
