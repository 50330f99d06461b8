/** The namespace of everything that Knative runs; an overlay may choose another one. */
export const NAMESPACE = 'shoot-flux';

/** The broker, and the start of every other name. */
export const BROKER = 'shoot-flux';

/** The bridge: its Deployment, Service, ServiceAccount and SinkBinding. */
export const WATCHER = 'shoot-flux-watcher';

/** The config file of all commands; an overlay makes the ConfigMap. */
export const CONFIG = 'shoot-flux-config';

/** Port for events and probes of a function, and of the bridge for probes. */
export const PORT = 8080;

/** Port of the bridge for changes that wait, and for dead letters. */
export const EVENTS_PORT = 8081;

/** Returns the name of a function's Service, Trigger and ServiceAccount. */
export function nameOf(functionName: string): string {
  return `shoot-flux-${functionName}`;
}

/** Labels of the objects of one function or of the bridge. */
export function labelsOf(component: string): Record<string, string> {
  return { 'app.kubernetes.io/name': 'shoot-flux', 'app.kubernetes.io/component': component };
}
