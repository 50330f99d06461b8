import type { Api, Apis } from '../../scenarios/stage.ts';
import { startTcpProxy } from '../../tcp-proxy.ts';

/** API servers that the product reaches through proxies, which can end everything that it does at any request. */
export interface Killable extends AsyncDisposable {
  apis: Apis;
  /** Resolves once the product is cut off, after so many pieces of its requests from now on. */
  cutAfter(pieces: number): Promise<void>;
  /** Passes everything on again: for the next product. */
  pass(): void;
}

/**
 * Puts proxies before the API servers. A request that is cut off in an odd piece never arrives as a whole; of one in an
 * even piece only the answer may be lost. Either way the product writes nothing more, as after a kill.
 */
export async function killable(apis: Apis): Promise<Killable> {
  let left = Number.POSITIVE_INFINITY;
  let losesAnswer = false;
  let happened = Promise.withResolvers<void>();
  const cut = () => {
    left = Number.POSITIVE_INFINITY;
    for (const proxy of proxies) proxy.behave('refuse');
    happened.resolve();
  };
  const onBytes = (from: 'client' | 'server') => {
    if (from === 'client') left -= 1;
    if (left <= 0 && (!losesAnswer || from === 'server')) cut();
  };
  const places = ['garden', 'seed', 'shoot'] as const;
  const proxies = await Promise.all(places.map((place) => startTcpProxy(apis[place].url, onBytes)));
  const [garden, seed, shoot] = places.map((place, index): Api => {
    const [api, productUrl] = [apis[place], proxies[index]?.url ?? ''];
    return { ...api, productUrl, kubeconfig: () => api.kubeconfig().replaceAll(api.url, productUrl) };
  }) as [Api, Api, Api];
  return {
    apis: { garden, seed, shoot, stop: () => apis.stop() },
    cutAfter(pieces) {
      happened = Promise.withResolvers();
      [left, losesAnswer] = [pieces, pieces % 2 === 0];
      return happened.promise;
    },
    pass() {
      left = Number.POSITIVE_INFINITY;
      for (const proxy of proxies) proxy.behave('forward');
    },
    async [Symbol.asyncDispose]() {
      for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
    },
  };
}
