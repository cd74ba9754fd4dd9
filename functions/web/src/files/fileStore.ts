import type { ApiClient } from "../api/client";
import type { FileChange, FileItem, FileStatus, Folder } from "../api/types";
import { formatBytes } from "../i18n/format";
import { text } from "../i18n/language";
import type { RunEvent } from "../runs/events";
import { Store } from "../store";
import { attempt, tell, tellProblem } from "../ui/toasts";
import { mimeTypeOf } from "./mimeType";
import { putFile, UploadFailed } from "./putFile";

const AT_ONCE = 3;
const POLL_FIRST_MS = 3_000;
const POLL_LONGEST_MS = 60_000;
const SOON_MS = 250;

/** A file on its way to the storage. `fileId` is known as soon as the server has registered it. */
export interface Upload {
  key: string;
  source: File;
  folderId: string | null;
  fileId: string | null;
  progress: number;
  failed: boolean;
}

export interface FilesState {
  loaded: boolean;
  files: readonly FileItem[];
  folders: readonly Folder[];
  uploads: readonly Upload[];
  /** Index progress by file id, 0 to 1. */
  indexing: Readonly<Record<string, number>>;
}

type OnCreated = (file: FileItem) => void;

export class FileStore {
  readonly state = new Store<FilesState>({ loaded: false, files: [], folders: [], uploads: [], indexing: {} });
  readonly #api: ApiClient;
  readonly #sizeLimit: () => number | null;
  readonly #aborts = new Map<string, AbortController>();
  readonly #seqs = new Map<string, number>();
  readonly #waiting: (() => Promise<void>)[] = [];
  #active = 0;
  #pollMs = POLL_FIRST_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: ApiClient, sizeLimit: () => number | null) {
    this.#api = api;
    this.#sizeLimit = sizeLimit;
  }

  refresh = async (): Promise<void> => {
    const [files, folders] = await Promise.all([this.#api.files(), this.#api.folders()]);
    this.#change({ files, folders, loaded: true });
    this.#pollWhileUnsettled();
  };

  refreshSoon = (): void => this.#refreshIn(SOON_MS);

  stop = (): void => {
    clearTimeout(this.#timer);
    for (const abort of this.#aborts.values()) abort.abort();
  };

  /** Uploads files a few at a time; one over the size limit is refused before anything is sent. */
  upload = (sources: readonly File[], folderId: string | null, onCreated: OnCreated = () => undefined): void => {
    for (const source of sources) {
      if (this.#isTooLarge(source)) continue;
      const upload = { key: crypto.randomUUID(), source, folderId, fileId: null, progress: 0, failed: false };
      this.#change({ uploads: [...this.state.get().uploads, upload] });
      this.#queue(upload, onCreated);
    }
  };

  retry = (upload: Upload): void => {
    this.#changeUpload(upload.key, { failed: false, progress: 0, fileId: null });
    this.#queue(upload, () => undefined);
  };

  /** Cancels an upload on its way, or takes a failed one off the list. */
  discard = (upload: Upload): void => {
    this.#aborts.get(upload.key)?.abort();
    this.#dropUpload(upload.key);
  };

  change = (id: string, change: FileChange): Promise<boolean> => this.#then(() => this.#api.changeFile(id, change));
  remove = (id: string): Promise<boolean> => this.#then(() => this.#api.deleteFile(id));
  reindex = (id: string): Promise<boolean> => this.#then(() => this.#api.reindexFile(id));
  createFolder = (name: string, parentId: string | null) => this.#then(() => this.#api.createFolder(name, parentId));
  renameFolder = (id: string, name: string) => this.#then(() => this.#api.renameFolder(id, name));
  removeFolder = (id: string) => this.#then(() => this.#api.deleteFolder(id));

  /** Takes in what an indexing run tells; its events may come late, twice or not at all. */
  receive = (event: RunEvent): void => {
    if (event.seq <= (this.#seqs.get(event.runId) ?? 0)) return;
    if (event.type === "fileCreated") return this.refreshSoon();
    if (event.type === "indexProgress") {
      this.#seqs.set(event.runId, event.seq);
      const { fileId, status, reason, progress } = event.data;
      this.#setStatus(fileId, status, reason, progress);
    } else if ((event.type === "complete" || event.type === "error") && event.data.fileId) {
      this.#seqs.set(event.runId, event.seq);
      this.refreshSoon();
    }
  };

  async #then(action: () => Promise<unknown>): Promise<boolean> {
    return (await attempt(action)) && (await attempt(this.refresh));
  }

  #isTooLarge(source: File): boolean {
    const limit = this.#sizeLimit();
    if (limit === null || source.size <= limit) return false;
    const sizes = { size: formatBytes(source.size), limit: formatBytes(limit) };
    tell(text("files.tooLarge", { name: source.name }), text("files.tooLargeHint", sizes));
    return true;
  }

  #queue(upload: Upload, onCreated: OnCreated): void {
    this.#waiting.push(() => this.#run(upload, onCreated));
    this.#next();
  }

  #next(): void {
    if (this.#active >= AT_ONCE) return;
    const job = this.#waiting.shift();
    if (!job) return;
    this.#active += 1;
    void job().finally(() => {
      this.#active -= 1;
      this.#next();
    });
  }

  async #run({ key, source, folderId }: Upload, onCreated: OnCreated): Promise<void> {
    if (!this.state.get().uploads.some((upload) => upload.key === key)) return;
    const abort = new AbortController();
    this.#aborts.set(key, abort);
    let file: FileItem | null = null;
    try {
      const description = {
        fileName: source.name,
        mimeType: mimeTypeOf(source),
        size: source.size,
        folderId,
        tags: [],
      };
      const created = await this.#api.createFile(description);
      file = created.file;
      this.#changeUpload(key, { fileId: file.id });
      onCreated(file);
      await putFile(created.upload, source, (progress) => this.#changeUpload(key, { progress }), abort.signal);
      this.#settle(key, file);
    } catch (error) {
      this.#fail(key, source.name, file, error, abort.signal.aborted);
    } finally {
      this.#aborts.delete(key);
    }
  }

  #settle(key: string, file: FileItem): void {
    const { files } = this.state.get();
    // An event may have told of progress already; that is newer than the answer to the registration.
    if (!files.some((known) => known.id === file.id)) this.#change({ files: [file, ...files] });
    this.#dropUpload(key);
    this.#pollMs = POLL_FIRST_MS;
    this.refreshSoon();
  }

  #fail(key: string, fileName: string, file: FileItem | null, error: unknown, cancelled: boolean): void {
    // Without its bytes the registered file would wait for ever.
    if (file)
      void this.#api
        .deleteFile(file.id)
        .then(this.refresh)
        .catch(() => undefined);
    if (cancelled) return this.#dropUpload(key);
    this.#changeUpload(key, { failed: true, fileId: null });
    if (error instanceof UploadFailed) {
      tell(text("files.uploadFailed", { name: fileName }), text("files.uploadFailedHint"));
    } else tellProblem(error);
  }

  #setStatus(fileId: string, status: FileStatus, statusReason: string | null, progress: number): void {
    const { files, indexing } = this.state.get();
    if (!files.some((file) => file.id === fileId)) this.refreshSoon();
    this.#change({
      files: files.map((file) => (file.id === fileId ? { ...file, status, statusReason } : file)),
      indexing: { ...indexing, [fileId]: progress },
    });
  }

  #pollWhileUnsettled(): void {
    if (this.state.get().files.every((file) => isSettled(file.status))) {
      this.#pollMs = POLL_FIRST_MS;
      return;
    }
    this.#refreshIn(this.#pollMs);
    this.#pollMs = Math.min(POLL_LONGEST_MS, this.#pollMs * 1.5);
  }

  #refreshIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh().catch(() => this.#pollWhileUnsettled()), milliseconds);
  }

  #change(change: Partial<FilesState>): void {
    this.state.update((state) => ({ ...state, ...change }));
  }

  #changeUpload(key: string, change: Partial<Upload>): void {
    const uploads = this.state.get().uploads.map((upload) => (upload.key === key ? { ...upload, ...change } : upload));
    this.#change({ uploads });
  }

  #dropUpload(key: string): void {
    this.#change({ uploads: this.state.get().uploads.filter((upload) => upload.key !== key) });
  }
}

export function isSettled(status: FileStatus): boolean {
  return status === "indexed" || status === "failed";
}
