import type { Answer, Call } from './call.ts';
import { remove } from './deletes.ts';
import { methodNotAllowed, noSuchPath, notFound } from './errors.ts';
import type { ApiObject, Json } from './json.ts';
import { get, list } from './reads.ts';
import type { Registry } from './registry.ts';
import { type Form, render, renderList } from './render.ts';
import { create, patch, update } from './writes.ts';

/** Carries out a request to a resource (watches excepted). */
export function route(registry: Registry, call: Call, method: string, form: Form): Answer {
  const { definition, name, subresource } = call;
  const finalize = subresource === 'finalize' && definition.plural === 'namespaces' && !definition.custom;
  if (subresource !== '' && !finalize && !(subresource === 'status' && definition.status)) {
    throw definition.custom ? notFound(definition, name) : noSuchPath();
  }
  if (name === '') {
    if (method === 'GET') {
      const page = list(call);
      return { code: 200, body: renderList(definition, page.items, page.metadata, form) };
    }
    if (method === 'POST') return shown(create(registry, call));
    throw methodNotAllowed();
  }
  if (method === 'GET') return shown(get(call));
  if (method === 'PUT') return shown(update(call));
  if (method === 'PATCH') return shown(patch(registry, call));
  if (method === 'DELETE' && subresource === '') return shown(remove(call));
  throw methodNotAllowed();

  function shown({ code, body }: Answer): Answer {
    const isStatus = (body as { kind?: Json }).kind === 'Status';
    return { code, body: isStatus ? body : render(definition, body as ApiObject, form) };
  }
}
