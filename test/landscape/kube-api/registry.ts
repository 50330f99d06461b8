import { builtInResources } from './built-in-resources.ts';
import { apiVersionOf, type Definition } from './call.ts';
import { customDefinitions } from './crd.ts';
import { type ApiObject, asObject, asString } from './json.ts';
import { builtInSchema } from './schema.ts';
import { Clock, ResourceStore } from './store.ts';

/** The served resources and their stores. */
export class Registry {
  readonly clock = new Clock();
  readonly #definitions = new Map<string, Definition>();
  readonly #stores = new Map<string, ResourceStore>();
  /** CRD name to the keys of its definitions. */
  readonly #custom = new Map<string, string[]>();

  constructor() {
    for (const resource of builtInResources) {
      const { group, version, plural, kind } = resource;
      this.#definitions.set(id(group, version, plural), {
        ...resource,
        singular: kind.toLowerCase(),
        listKind: `${kind}List`,
        custom: false,
        storedAs: apiVersionOf(resource),
        terminating: false,
        schema: builtInSchema(group, version, kind),
        store: this.store(group, plural),
      });
    }
    this.get('apiextensions.k8s.io', 'v1', 'customresourcedefinitions').store.subscribe((event) => {
      if (event.type === 'DELETED') this.#withdraw(event.key);
      else this.#serve(event.object);
    });
  }

  find(group: string, version: string, plural: string): Definition | undefined {
    return this.#definitions.get(id(group, version, plural));
  }

  /** @throws Error when no resource of that name is served */
  get(group: string, version: string, plural: string): Definition {
    const definition = this.find(group, version, plural);
    if (definition === undefined) throw new Error(`${id(group, version, plural)} is not served`);
    return definition;
  }

  serves(group: string, version: string): boolean {
    return this.all().some((definition) => definition.group === group && definition.version === version);
  }

  all(): Definition[] {
    return [...this.#definitions.values()];
  }

  store(group: string, plural: string): ResourceStore {
    const key = `${group}/${plural}`;
    let store = this.#stores.get(key);
    if (store === undefined) {
      store = new ResourceStore(this.clock);
      this.#stores.set(key, store);
    }
    return store;
  }

  /** As `ResourceStore.checkpoint`, for all served resources. */
  checkpoint(): () => void {
    const definitions = [...this.#definitions];
    const custom = [...this.#custom];
    const stores = [...this.#stores];
    const contents = stores.map(([, store]) => store.checkpoint());
    return () => {
      refill(this.#definitions, definitions);
      refill(this.#custom, custom);
      refill(this.#stores, stores);
      for (const bringBack of contents) bringBack();
    };
  }

  #serve(crd: ApiObject): void {
    const established = JSON.stringify(asObject(crd.status).conditions ?? []).includes('"Established"');
    if (!established) return;
    this.#withdraw(crd.metadata.name);
    const spec = asObject(crd.spec);
    const store = this.store(asString(spec.group), asString(asObject(spec.names).plural));
    const keys: string[] = [];
    for (const definition of customDefinitions(crd, store)) {
      const key = id(definition.group, definition.version, definition.plural);
      this.#definitions.set(key, definition);
      keys.push(key);
    }
    this.#custom.set(crd.metadata.name, keys);
  }

  #withdraw(name: string): void {
    for (const key of this.#custom.get(name) ?? []) this.#definitions.delete(key);
    this.#custom.delete(name);
  }
}

function refill<K, V>(map: Map<K, V>, entries: [K, V][]): void {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}

const id = (group: string, version: string, plural: string) => `${group}/${version}/${plural}`;
