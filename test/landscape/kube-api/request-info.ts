/** The parts of a path of the API. */
export interface RequestInfo {
  group: string;
  version: string;
  namespace: string;
  plural: string;
  name: string;
  subresource: string;
}

/** Parses a path below `/api` or `/apis`; returns undefined when it is not the path of a resource. */
export function requestInfo(path: string): RequestInfo | undefined {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  if (parts.at(-1) === '') parts.pop();
  const [root] = parts;
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : (parts[1] ?? '');
  const version = parts[root === 'api' ? 1 : 2] ?? '';
  const rest = parts.slice(root === 'api' ? 2 : 3);
  if (rest.length === 0 || rest.length > 5) return undefined;
  const [first = '', namespace = '', plural, name = '', subresource = ''] = rest;
  const ofNamespace = first === 'namespaces' && plural !== undefined && plural !== 'status' && plural !== 'finalize';
  if (ofNamespace) return { group, version, namespace, plural, name, subresource };
  if (rest.length > 3) return undefined;
  return { group, version, namespace: '', plural: first, name: namespace, subresource: plural ?? '' };
}

/** Returns the verb of a request for authorization. */
export function verbOf(method: string, info: RequestInfo, query: URLSearchParams): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    default:
      if (isWatch(query)) return 'watch';
      return info.name === '' ? 'list' : 'get';
  }
}

/** Returns the name for authorization: a list or watch may name one object in its field selector. */
export function nameAsked({ name }: RequestInfo, query: URLSearchParams): string {
  if (name !== '') return name;
  return /(?:^|,)metadata\.name==?([^=,]+)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}

export function isWatch(query: URLSearchParams): boolean {
  const watch = query.get('watch');
  return watch === 'true' || watch === '1';
}
