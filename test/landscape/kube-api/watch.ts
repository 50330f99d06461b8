import type { ServerResponse } from 'node:http';
import { apiVersionOf, type Call } from './call.ts';
import { expired } from './errors.ts';
import type { ApiObject, JsonObject } from './json.ts';
import { type Form, matcherOf, render } from './reads.ts';
import type { StoreEvent } from './store.ts';

/** An open watch. */
export interface OpenWatch {
  call: Call;
  /** Ends the answer, as a restarting server does. */
  close(): void;
}

export interface WatchSettings {
  form: Form;
  onClose(watch: OpenWatch): void;
}

const BOOKMARK_INTERVAL_MS = 60_000;
/** How long before the end of a watch its last bookmark is sent. */
const lastBookmarkSeconds = 2;

/** Answers a watch request until the watch ends. It begins at a version: clients have listed before. */
export function watch(call: Call, response: ServerResponse, settings: WatchSettings): OpenWatch {
  const { definition, query, namespace } = call;
  const { store } = definition;
  const matches = matcherOf(call);
  const asked = Number(query.get('resourceVersion'));
  const inNamespace = (object: ApiObject) => namespace === '' || object.metadata.namespace === namespace;
  const passes = (object: ApiObject) => inNamespace(object) && matches(object);
  const wantsBookmarks = query.get('allowWatchBookmarks') === 'true';
  const seconds = Number(query.get('timeoutSeconds') ?? 0) || 1800 + Math.floor(Math.random() * 1800);

  let open = true;
  const send = (type: string, object: JsonObject) => {
    response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const show = (object: ApiObject) => render(definition, object, settings.form);
  const deliver = (event: StoreEvent) => {
    if (!open) return;
    const is = event.type !== 'DELETED' && passes(event.object);
    const was = event.previous !== undefined && passes(event.previous);
    if (is) send(was ? 'MODIFIED' : 'ADDED', show(event.object));
    else if (was && event.previous !== undefined) {
      // An object that no longer matches is sent in its former state, at the revision of the change.
      const shown = event.type === 'DELETED' ? event.object : atRevision(event.previous, event.revision);
      send('DELETED', show(shown));
    }
  };
  const bookmark = () => {
    const object: JsonObject = {
      kind: settings.form === 'metadata' ? 'PartialObjectMetadata' : definition.kind,
      apiVersion: settings.form === 'metadata' ? 'meta.k8s.io/v1' : apiVersionOf(definition),
      metadata: { resourceVersion: String(store.revision) },
    };
    send('BOOKMARK', object);
  };

  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();

  const timers: NodeJS.Timeout[] = [];
  let unsubscribe = () => {};
  const stop = () => {
    if (!open) return;
    open = false;
    unsubscribe();
    for (const timer of timers) clearTimeout(timer);
    settings.onClose(opened);
  };
  const close = () => {
    stop();
    response.end();
  };
  const opened: OpenWatch = { call, close };
  response.on('close', stop);

  if (!store.remembers(asked)) {
    send('ERROR', expired(`too old resource version: ${asked} (${store.revision})`).status);
    close();
    return opened;
  }
  for (const event of store.since(asked)) deliver(event);
  unsubscribe = store.subscribe(deliver);
  timers.push(setTimeout(close, seconds * 1000));
  if (wantsBookmarks) {
    timers.push(setInterval(bookmark, BOOKMARK_INTERVAL_MS));
    timers.push(setTimeout(bookmark, Math.max(seconds - lastBookmarkSeconds, 0.5) * 1000));
  }
  for (const timer of timers) timer.unref();
  return opened;
}

function atRevision(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
