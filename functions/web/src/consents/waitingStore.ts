import type { ApiClient } from "../api/client";
import type { WaitingCall } from "../api/types";
import type { RunEvent } from "../runs/events";
import { Store } from "../store";
import { attempt } from "../ui/toasts";

const SOON_MS = 250;

/** The calls that wait for the user's word, whole and of all conversations, whether their runs are on the page or not. */
export class WaitingStore {
  readonly state = new Store<readonly WaitingCall[]>([]);
  readonly #api: ApiClient;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  refresh = async (): Promise<void> => this.state.set(await this.#api.confirmations());

  refreshSoon = (): void => {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh().catch(() => undefined), SOON_MS);
  };

  stop = (): void => clearTimeout(this.#timer);

  /** A run that asks, or goes on after it has asked, changes what waits. */
  receive = ({ runId, type }: RunEvent): void => {
    if (type === "confirmation" || this.state.get().some((call) => call.runId === runId)) this.refreshSoon();
  };

  /** Says whether a waiting call may run; false when the word did not arrive. */
  decide = async (runId: string, round: number, callId: string, approved: boolean): Promise<boolean> => {
    const isTaken = await attempt(() => this.#api.decide(runId, round, callId, approved));
    this.refreshSoon();
    return isTaken;
  };
}

export function findCall(waiting: readonly WaitingCall[], runId: string, round: number, callId: string) {
  return waiting.find((call) => call.runId === runId && call.round === round && call.callId === callId);
}
