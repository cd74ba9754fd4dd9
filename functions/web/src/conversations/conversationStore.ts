import type { ApiClient } from "../api/client";
import type { WorkflowRow } from "../api/types";
import { Store } from "../store";
import { attempt } from "../ui/toasts";

const SOON_MS = 250;

export interface ConversationsState {
  loaded: boolean;
  search: string;
  rows: readonly WorkflowRow[];
}

export class ConversationStore {
  readonly state = new Store<ConversationsState>({ loaded: false, search: "", rows: [] });
  readonly #api: ApiClient;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  refresh = async (): Promise<void> => {
    const { search } = this.state.get();
    const rows = await this.#api.workflows(search);
    // The answer to an older search comes too late.
    if (search === this.state.get().search) this.state.set({ loaded: true, search, rows });
  };

  refreshSoon = (): void => {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh().catch(() => undefined), SOON_MS);
  };

  stop = (): void => clearTimeout(this.#timer);

  search = (search: string): void => {
    this.state.update((state) => ({ ...state, search }));
    this.refreshSoon();
  };

  rename = (id: string, title: string) => this.#then(() => this.#api.renameWorkflow(id, title));
  remove = (id: string) => this.#then(() => this.#api.deleteWorkflow(id));

  async #then(action: () => Promise<unknown>): Promise<boolean> {
    return (await attempt(action)) && (await attempt(this.refresh));
  }
}
