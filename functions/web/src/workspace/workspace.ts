import { createContext, useContext } from "react";
import { ApiClient } from "../api/client";
import { Socket } from "../api/socket";
import type { Me } from "../api/types";
import type { Session } from "../auth/session";
import { ChatStore } from "../chat/chatStore";
import { WaitingStore } from "../consents/waitingStore";
import { ConversationStore } from "../conversations/conversationStore";
import { FileStore } from "../files/fileStore";
import { language, text } from "../i18n/language";
import { type RunEvent, parseEvent } from "../runs/events";
import type { RunState } from "../runs/runState";
import { RunStore } from "../runs/runStore";
import { SettingsStore } from "../settings/settingsStore";
import { Store } from "../store";
import { attempt, tell } from "../ui/toasts";
import { Panels } from "./panels";
import { showRoute, workflowOfRoute } from "./route";

const CONNECT_PATIENCE_MS = 8_000;
/** The status of a problem: the conversation's last question is still being answered. */
const CONFLICT = 409;

/** Everything a signed-in page has, built once and wired together. */
export class Workspace {
  readonly me = new Store<Me | null>(null);
  readonly panels = new Panels();
  readonly api: ApiClient;
  readonly socket: Socket;
  readonly runs: RunStore;
  readonly files: FileStore;
  readonly conversations: ConversationStore;
  readonly chat: ChatStore;
  readonly waiting: WaitingStore;
  readonly settings: SettingsStore;

  constructor(session: Session) {
    this.api = new ApiClient(session);
    this.socket = new Socket({
      address: this.#address,
      open: (address) => new WebSocket(address),
      onFrame: this.#receive,
      onOpen: this.#connected,
      random: Math.random,
    });
    this.runs = new RunStore({ send: this.socket.send, onStarted: this.#started, onEnded: this.#ended });
    this.files = new FileStore(this.api, () => this.me.get()?.maxUploadBytes ?? null);
    this.conversations = new ConversationStore(this.api);
    this.waiting = new WaitingStore(this.api);
    this.settings = new SettingsStore(this.api);
    this.chat = new ChatStore(this.api, this.runs, { connected: this.#untilConnected, onRoute: showRoute });
  }

  /** Starts everything; the answer stops it again. */
  start = (): (() => void) => {
    const stopLanguage = language.subscribe(this.socket.reconnect);
    addEventListener("online", this.socket.reconnect);
    addEventListener("hashchange", this.#route);
    document.addEventListener("visibilitychange", this.#wake);
    this.runs.start();
    this.socket.connect();
    this.#route();
    void attempt(() => Promise.all([this.#refreshMe(), this.files.refresh(), this.conversations.refresh()]));
    return () => {
      stopLanguage();
      removeEventListener("online", this.socket.reconnect);
      removeEventListener("hashchange", this.#route);
      document.removeEventListener("visibilitychange", this.#wake);
      for (const part of [this.runs, this.files, this.conversations, this.waiting]) part.stop();
      this.socket.close();
    };
  };

  stopRun = async (runId: string): Promise<void> => {
    const isSent = (await this.#untilConnected()) && this.socket.send({ action: "stop", runId });
    if (!isSent) tell(text("composer.notStopped"), text("composer.notStoppedHint"));
  };

  #address = async (): Promise<string> => {
    const { socketUrl, ticket } = await this.api.socketTicket();
    const url = new URL(socketUrl);
    url.searchParams.set("ticket", ticket);
    return url.href;
  };

  #refreshMe = async (): Promise<void> => this.me.set(await this.api.me());

  #route = (): void => {
    this.panels.closeAll();
    void this.chat.open(workflowOfRoute());
  };

  /** A laptop that slept has a dead connection and does not know it. */
  #wake = (): void => {
    if (document.visibilityState === "visible") this.socket.ping();
  };

  #connected = (): void => {
    this.runs.resumeAll();
    if (this.me.get() === null) void this.#refreshMe().catch(() => undefined);
    this.files.refreshSoon();
    this.conversations.refreshSoon();
    this.waiting.refreshSoon();
  };

  #untilConnected = (): Promise<boolean> => {
    const { state } = this.socket;
    if (state.get() === "open") return Promise.resolve(true);
    this.socket.connect();
    return new Promise((resolve) => {
      const finish = (connected: boolean) => {
        clearTimeout(timer);
        unsubscribe();
        resolve(connected);
      };
      const timer = setTimeout(() => finish(false), CONNECT_PATIENCE_MS);
      const unsubscribe = state.subscribe(() => state.get() === "open" && finish(true));
    });
  };

  #receive = (frame: unknown): void => {
    const event = parseEvent(frame);
    if (event === null) return;
    if (event.type === "filler") return this.runs.tell(event);
    if (event.type === "more") return this.runs.goOn(event.runId);
    if (event.seq === 0) return this.#refused(event);
    this.files.receive(event);
    this.waiting.receive(event);
    if (this.runs.has(event.runId)) this.runs.receive(event);
    else if (event.type === "status") this.#startedElsewhere(event.data.workflowId);
  };

  #refused(event: RunEvent): void {
    if (event.type !== "error") return;
    const { title, detail, status } = event.data;
    const runId = event.runId || this.runs.onlyUnanswered();
    const frame = runId ? this.runs.withdraw(runId) : null;
    if (frame) this.chat.giveBack(frame);
    else this.runs.fail(event.runId, title, detail);
    if (status === CONFLICT) void this.chat.reload(); // there is a run that this page does not know of
    tell(title, detail);
  }

  #startedElsewhere(workflowId: string): void {
    this.conversations.refreshSoon();
    if (workflowId === this.chat.state.get().workflowId) void this.chat.reload();
  }

  #started = (run: RunState): void => {
    this.chat.started(run);
    this.conversations.refreshSoon();
  };

  #ended = (): void => {
    this.conversations.refreshSoon();
    void this.#refreshMe().catch(() => undefined);
  };
}

export const WorkspaceContext = createContext<Workspace | null>(null);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === null) throw new Error("useWorkspace outside of the signed-in page");
  return workspace;
}
