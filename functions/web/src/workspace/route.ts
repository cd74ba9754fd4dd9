/** The open conversation is in the address, so that a reload and a bookmark come back to it. */
const ROUTE = /^#\/c\/([\w-]+)$/;

export function workflowOfRoute(hash: string = location.hash): string | null {
  return ROUTE.exec(hash)?.[1] ?? null;
}

export function routeOf(workflowId: string | null): string {
  return workflowId === null ? "#/" : `#/c/${workflowId}`;
}

/** Puts a conversation that is on the page already into the address. */
export function showRoute(workflowId: string): void {
  history.replaceState(null, "", routeOf(workflowId));
}
