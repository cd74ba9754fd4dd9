import type { Origin } from "../runs/events";

/** The bodies of the REST interface, as `/api/openapi.json` describes them. Money is CHF as a decimal string. */

export interface Model {
  id: string;
  label: string;
}

export interface Me {
  userId: string;
  mandateId: string;
  roles: string[];
  zone: string;
  language: string;
  offline: boolean;
  models: Model[];
  maxUploadBytes: number;
  spentChf: string;
  /** Null when the mandate has no limit. */
  limitChf: string | null;
}

/** What holds for the user, and what it comes from: the default, the organisation's choice, their own (null: none). */
export interface Settings {
  webSearchEnabled: boolean;
  own: Preferences;
  mandate: Preferences;
  canSearchWeb: boolean;
}

interface Preferences {
  webSearchEnabled: boolean | null;
}

/** A call that waits for the user's word, with all of its arguments and where it comes from. */
export interface WaitingCall extends Origin {
  runId: string;
  round: number;
  callId: string;
  workflowId: string;
  title: string;
  name: string;
  arguments: string;
  askedAt: string;
}

export interface SocketTicket {
  ticket: string;
  socketUrl: string;
  expiresAt: string;
}

export type FileStatus = "pending" | "extracted" | "embedding" | "indexed" | "failed";

export interface FileItem {
  id: string;
  fileName: string;
  mimeType: string;
  size: number;
  folderId: string | null;
  tags: string[];
  description: string | null;
  status: FileStatus;
  statusReason: string | null;
  createdAt: string;
  updatedAt: string;
}

export type FileChange = Partial<Pick<FileItem, "fileName" | "folderId" | "tags" | "description">>;

export interface NewFile {
  fileName: string;
  mimeType: string;
  size: number;
  folderId: string | null;
  tags: string[];
}

export interface UploadTarget {
  url: string;
  method: string;
  headers: Record<string, string>;
}

export interface Folder {
  id: string;
  name: string;
  parentId: string | null;
}

export interface ContextRef {
  containerPath: string;
  location: string;
  label?: string | null;
  pageIndex?: number | null;
  sectionId?: string | null;
  sheetName?: string | null;
  slideIndex?: number | null;
}

/** A source: a place in a file, or a page of the web (`url`, its title as `fileName`). */
export interface Citation {
  number: number;
  fileId: string | null;
  url?: string | null;
  fileName: string;
  place: string;
  quote: string;
  ref: ContextRef;
}

export interface Section {
  id: string;
  title: string;
  level: number;
  startPage: number | null;
  endPage: number | null;
}

export interface DocumentStructure {
  mimeType: string;
  pageCount: number | null;
  sections: Section[];
}

export interface FileIndex {
  structure: DocumentStructure | null;
  objectCount: number;
  chunkCount: number;
}

export interface ContentObject {
  sequence: number;
  contentType: "text" | "image" | "videostream" | "audiostream" | "other";
  data: string;
  ref: ContextRef;
}

export interface WorkflowRow {
  id: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  lastRunId: string | null;
  lastRunStatus: string | null;
}

export interface StoredToolCall {
  callId: string;
  name: string;
  arguments: string;
  status: "requested" | "claimed" | "succeeded" | "failed" | "unknown";
  result: string | null;
  durationMs: number | null;
}

export interface StoredMessage {
  id: string;
  runId: string;
  round: number;
  role: "user" | "assistant";
  content: string;
  toolCalls: StoredToolCall[];
  citations: Citation[];
  fileIds: string[];
  /** Later questions are always told of it. */
  pinned: boolean;
  createdAt: string;
}

export interface RunRow {
  id: string;
  status: string;
  lastSeq: number;
  costChf: string;
  startedAt: string | null;
  completedAt: string | null;
}

export interface WorkflowDetail {
  workflow: Pick<WorkflowRow, "id" | "title" | "createdAt" | "updatedAt">;
  messages: StoredMessage[];
  runs: RunRow[];
}
