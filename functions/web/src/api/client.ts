import { language, text } from "../i18n/language";
import { Problem, problemOf } from "./problem";
import type {
  ContentObject,
  FileChange,
  FileIndex,
  FileItem,
  Folder,
  Me,
  NewFile,
  Settings,
  SocketTicket,
  UploadTarget,
  WaitingCall,
  WorkflowDetail,
  WorkflowRow,
} from "./types";

/** What the client needs of the signed-in session. */
export interface TokenSource {
  accessToken(): Promise<string | null>;
  refresh(): Promise<void>;
}

/** The REST interface under `/api`. Every failure is a `Problem` with a title and a detail for the user. */
export class ApiClient {
  readonly #tokens: TokenSource;

  constructor(tokens: TokenSource) {
    this.#tokens = tokens;
  }

  me = () => this.#send<Me>("GET", "/me");
  socketTicket = () => this.#send<SocketTicket>("POST", "/socket-tickets");

  files = async () => (await this.#send<{ files: FileItem[] }>("GET", "/files")).files;
  createFile = (file: NewFile) => this.#send<{ file: FileItem; upload: UploadTarget }>("POST", "/files", file);
  changeFile = (id: string, change: FileChange) => this.#send<unknown>("PATCH", path`/files/${id}`, change);
  deleteFile = (id: string) => this.#send<unknown>("DELETE", path`/files/${id}`);
  reindexFile = (id: string) => this.#send<unknown>("POST", path`/files/${id}/reindex`);
  fileContent = (id: string) => this.#send<{ url: string }>("GET", path`/files/${id}/content`);
  fileIndex = (id: string) => this.#send<FileIndex>("GET", path`/files/${id}/index`);
  fileObjects = async (id: string, page: number | null) => {
    const query = page === null ? "" : `?page=${page}`;
    return (await this.#send<{ objects: ContentObject[] }>("GET", path`/files/${id}/objects` + query)).objects;
  };

  folders = async () => (await this.#send<{ folders: Folder[] }>("GET", "/folders")).folders;
  createFolder = (name: string, parentId: string | null) => this.#send<unknown>("POST", "/folders", { name, parentId });
  renameFolder = (id: string, name: string) => this.#send<unknown>("PATCH", path`/folders/${id}`, { name });
  deleteFolder = (id: string) => this.#send<unknown>("DELETE", path`/folders/${id}?recursive=true`);

  preferences = () => this.#send<Settings>("GET", "/preferences");
  changePreferences = (webSearchEnabled: boolean | null) =>
    this.#send<Settings>("PATCH", "/preferences", { webSearchEnabled });
  changeMandatePreferences = (webSearchEnabled: boolean) =>
    this.#send<Settings>("PATCH", "/mandate/preferences", { webSearchEnabled });

  confirmations = async () =>
    (await this.#send<{ confirmations: WaitingCall[] }>("GET", "/confirmations")).confirmations;
  decide = (runId: string, round: number, callId: string, approved: boolean) =>
    this.#send<unknown>("POST", "/confirmations", { runId, round, callId, approved });

  pinMemory = (messageId: string, pinned: boolean) =>
    this.#send<unknown>("PATCH", path`/memories/${messageId}`, { pinned });

  workflows = async (search: string) => {
    const query = search ? `?${new URLSearchParams({ search })}` : "";
    return (await this.#send<{ workflows: WorkflowRow[] }>("GET", `/workflows${query}`)).workflows;
  };
  workflow = (id: string) => this.#send<WorkflowDetail>("GET", path`/workflows/${id}`);
  renameWorkflow = (id: string, title: string) => this.#send<unknown>("PATCH", path`/workflows/${id}`, { title });
  deleteWorkflow = (id: string) => this.#send<unknown>("DELETE", path`/workflows/${id}`);
  runEvents = async (id: string, afterSeq: number) =>
    (await this.#send<{ events: unknown[] }>("GET", path`/runs/${id}/events?afterSeq=${afterSeq}`)).events;

  async #send<T>(method: string, target: string, body?: unknown): Promise<T> {
    let response = await this.#fetch(method, target, body);
    if (response.status === 401) {
      await this.#tokens.refresh().catch(() => undefined);
      response = await this.#fetch(method, target, body);
    }
    if (!response.ok) {
      const hint = text("problem.serverHint", { status: response.status });
      throw await problemOf(response, text("problem.server"), hint);
    }
    const content = await response.text();
    return (content ? JSON.parse(content) : undefined) as T;
  }

  async #fetch(method: string, target: string, body: unknown): Promise<Response> {
    try {
      const token = await this.#tokens.accessToken();
      return await fetch(`/api${target}`, {
        method,
        headers: {
          Accept: "application/json",
          "Accept-Language": language.get(),
          "X-User-Timezone": Intl.DateTimeFormat().resolvedOptions().timeZone,
          ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch {
      throw new Problem(text("problem.network"), text("problem.networkHint"));
    }
  }
}

/** Ids are put into addresses encoded, whatever they hold. */
function path(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => encodeURIComponent(value)));
}
