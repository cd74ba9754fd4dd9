import type { ApiClient } from "../api/client";
import type { Settings } from "../api/types";
import { Store } from "../store";
import { attempt } from "../ui/toasts";

/** What holds for the user from their next question on, and for everyone of their organisation. */
export class SettingsStore {
  /** Null until it is known. */
  readonly state = new Store<Settings | null>(null);
  readonly #api: ApiClient;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  refresh = (): Promise<boolean> => this.#take(() => this.#api.preferences());

  /** Null takes the own choice back: the organisation's counts again. */
  choose = (webSearchEnabled: boolean | null) => this.#take(() => this.#api.changePreferences(webSearchEnabled));

  chooseForAll = (webSearchEnabled: boolean) => this.#take(() => this.#api.changeMandatePreferences(webSearchEnabled));

  #take(ask: () => Promise<Settings>): Promise<boolean> {
    return attempt(async () => this.state.set(await ask()));
  }
}
