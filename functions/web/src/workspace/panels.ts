import type { Citation } from "../api/types";
import { Store } from "../store";

/** What the side panel shows: a file, and the cited place in it if it was opened by a citation. */
export interface PreviewTarget {
  fileId: string;
  fileName: string;
  page: number | null;
  citation: Citation | null;
}

/** The panels that come and go: the preview, and on narrow screens the sidebar. */
export class Panels {
  readonly preview = new Store<PreviewTarget | null>(null);
  readonly sidebar = new Store(false);
  /** The folder that is open in the file list: new files go there. */
  readonly folder = new Store<string | null>(null);
  #opener: HTMLElement | null = null;

  openFile = (fileId: string, fileName: string): void => this.#open({ fileId, fileName, page: null, citation: null });

  openCitation = (citation: Citation): void => {
    const { fileId, fileName, ref, url } = citation;
    // Pages of the web are strangers: they open in a tab that knows nothing of this one, and only over HTTP.
    if (url && /^https?:\/\//.test(url)) window.open(url, "_blank", "noopener,noreferrer");
    if (fileId) this.#open({ fileId, fileName, page: ref.pageIndex ?? ref.slideIndex ?? null, citation });
  };

  /** The focus goes back to where the panel was opened from. */
  closePreview = (): void => {
    this.preview.set(null);
    if (this.#opener?.isConnected) this.#opener.focus();
    this.#opener = null;
  };

  toggleSidebar = (): void => this.sidebar.update((open) => !open);
  closeSidebar = (): void => this.sidebar.set(false);

  closeAll = (): void => {
    this.preview.set(null);
    this.sidebar.set(false);
  };

  #open(target: PreviewTarget): void {
    this.#opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    this.preview.set(target);
    this.sidebar.set(false);
  }
}
