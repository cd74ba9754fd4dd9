import { Store } from "../store";
import { backoffMs } from "./backoff";

/** API Gateway closes a connection after 10 idle minutes. */
const PING_EVERY_MS = 5 * 60_000;
const PONG_WITHIN_MS = 15_000;
const STABLE_AFTER_MS = 10_000;

export type SocketState = "connecting" | "open" | "waiting" | "closed";

export interface SocketHooks {
  /** The address with a fresh single-use ticket. */
  address(): Promise<string>;
  open(address: string): WebSocket;
  onFrame(frame: unknown): void;
  onOpen(): void;
  random(): number;
}

/** A WebSocket that stays: reconnects with backoff, keeps itself alive, takes a new ticket every time. */
export class Socket {
  readonly state = new Store<SocketState>("closed");
  readonly #hooks: SocketHooks;
  #socket: WebSocket | null = null;
  #attempt = 0;
  #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(hooks: SocketHooks) {
    this.#hooks = hooks;
  }

  /** Connects now, whatever it is waiting for; does nothing while connected. */
  connect = (): void => {
    if (this.state.get() === "open" || this.state.get() === "connecting") return;
    this.#clear();
    this.state.set("connecting");
    void this.#dial();
  };

  /** Takes a new connection in place of the present one (the language or the network has changed). */
  reconnect = (): void => {
    if (this.state.get() === "closed") return;
    this.#drop();
    this.#attempt = 0;
    this.state.set("waiting");
    this.connect();
  };

  close = (): void => {
    this.state.set("closed");
    this.#drop();
  };

  /** True when the frame was handed to an open connection. */
  send = (frame: object): boolean => {
    if (this.state.get() !== "open" || this.#socket === null) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  };

  /** Asks for a sign of life; without one the connection is taken for dead and replaced. */
  ping = (): void => {
    if (!this.send({ action: "ping" })) return;
    this.#later("pong", PONG_WITHIN_MS, this.reconnect);
    this.#later("ping", PING_EVERY_MS, this.ping);
  };

  async #dial(): Promise<void> {
    try {
      const address = await this.#hooks.address();
      if (this.state.get() !== "connecting") return;
      this.#listen(this.#hooks.open(address));
    } catch {
      this.#retry();
    }
  }

  #listen(socket: WebSocket): void {
    this.#socket = socket;
    const whenCurrent = (act: () => void) => () => {
      if (this.#socket === socket) act();
    };
    socket.onopen = whenCurrent(() => {
      this.state.set("open");
      this.#later("ping", PING_EVERY_MS, this.ping);
      this.#later("stable", STABLE_AFTER_MS, () => (this.#attempt = 0));
      this.#hooks.onOpen();
    });
    socket.onmessage = (message: MessageEvent<unknown>) => {
      clearTimeout(this.#timers.get("pong"));
      if (this.#socket === socket) this.#hooks.onFrame(parse(message.data));
    };
    socket.onclose = whenCurrent(() => this.#retry());
  }

  #retry(): void {
    if (this.state.get() === "closed") return;
    this.#drop();
    this.state.set("waiting");
    this.#later("retry", backoffMs(this.#attempt++, this.#hooks.random()), this.connect);
  }

  #drop(): void {
    this.#clear();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #later(name: string, milliseconds: number, act: () => void): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.set(name, setTimeout(act, milliseconds));
  }

  #clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

function parse(data: unknown): unknown {
  try {
    return typeof data === "string" ? (JSON.parse(data) as unknown) : null;
  } catch {
    return null;
  }
}
