import type { Server } from 'node:http';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { secureHeaders } from 'hono/secure-headers';
import { errorMessage } from '../../shared/errors.ts';
import { ForbiddenError } from '../../shared/kube/errors.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { closeServer, listen } from '../listen.ts';
import { type Clock, createAccess, type Identity, seenBy } from './access.ts';
import { script, style } from './assets.ts';
import { notAllowed, readHistory } from './history.ts';
import { facets, filtersOf, projectOf, readQuery } from './query.ts';
import { countsPage, type Links, listPage, messagePage, shootPage, type View } from './render.ts';
import type { Snapshot } from './summary.ts';

/** How a page is served. */
export interface PageOptions {
  summary: { latest(): Snapshot };
  garden: Pick<HttpKubeClient, 'ask' | 'list'>;
  port: number;
  host: string;
  /** Names under which browsers reach the page, besides those of loopback. */
  allowedHosts?: readonly string[] | undefined;
  /** The headers in which a proxy says who looks. Absent: everybody sees what the credentials show. */
  identity?: { userHeader: string; groupsHeader?: string | undefined } | undefined;
  clock?: Clock;
  onFailed(message: string): void;
}

const links: Links = {
  list(query) {
    const search = new URLSearchParams(filtersOf(query));
    if (query.page > 1) search.set('page', String(query.page));
    return search.size === 0 ? './' : `./?${search}`;
  },
  shoot: ({ namespace, name }) => `shoot?${new URLSearchParams({ project: projectOf(namespace), name })}`,
  counts: (facet, page) => `counts?${new URLSearchParams({ by: facet, page: String(page) })}`,
};

/** Serves the page over HTTP. */
export async function servePage(options: PageOptions) {
  const server = createAdaptorServer({ fetch: pageApp(options).fetch, overrideGlobalObjects: false }) as Server;
  const port = await listen(server, options.port, options.host);
  return { port, stop: () => closeServer(server, 1000) };
}

const csp = {
  defaultSrc: ["'none'"],
  ...{ styleSrc: ["'self'"], scriptSrc: ["'self'"], connectSrc: ["'self'"], imgSrc: ['data:'] },
  ...{ formAction: ["'self'"], baseUri: ["'none'"], frameAncestors: ["'none'"] },
};

function pageApp(options: PageOptions): Hono<Environment> {
  const { summary, garden, identity, allowedHosts = [], clock = performance, onFailed } = options;
  const app = new Hono<Environment>();
  const may = createAccess(garden, clock);
  // Whoever terminates TLS decides about Strict-Transport-Security.
  app.use(secureHeaders({ contentSecurityPolicy: csp, xFrameOptions: 'DENY', strictTransportSecurity: false }));
  app.use(async (context, next) => {
    context.header('cache-control', 'no-store');
    // A name that an attacker lets point to loopback would make this page one of the attacker's origin.
    const { hostname } = new URL(context.req.url);
    if (LOOPBACK.includes(hostname) || allowedHosts.includes(hostname)) return next();
    return context.text(`The page is not served as ${hostname}; start it with --allow-host and this name.\n`, 421);
  });
  for (const { name, text, type } of [style, script]) {
    const headers = { 'content-type': type, 'cache-control': 'max-age=31536000, immutable' };
    app.get(`/${name}`, (context) => context.body(text, 200, headers));
  }
  app.use(compress());
  app.use(async (context, next) => {
    const who = identity && identityIn(context, identity);
    if (identity !== undefined && who === undefined) {
      const what = `must name one user, none of Kubernetes itself, in header ${identity.userHeader}`;
      return context.text(`The proxy in front of this page ${what}.\n`, 401);
    }
    const snapshot = who === undefined ? summary.latest() : await seenBy(who, summary.latest(), may);
    context.set('who', who);
    context.set('view', { snapshot, links, now: new Date(), user: who?.user, isLive: true });
    return next();
  });
  app.get('/', ({ req, var: { view }, html }) => html(listPage(view, readQuery(req.query()))));
  app.get('/counts', ({ req, var: { view }, html }) => {
    const facet = facets.find((facet) => facet === req.query('by')) ?? 'project';
    return html(countsPage(view, facet, readQuery(req.query()).page));
  });
  app.get('/shoot', async (context) => {
    const { project, name } = context.req.query();
    const { view, who } = context.var;
    const shoot = view.snapshot.shoots.find((shoot) => shoot.name === name && projectOf(shoot.namespace) === project);
    if (shoot === undefined) return context.notFound();
    const { namespace } = shoot;
    const isAllowed = who === undefined || (await may(who, 'events', namespace));
    const history = isAllowed ? await readHistory(garden, namespace, shoot.name) : notAllowed(namespace);
    return context.html(shootPage(view, shoot, history));
  });
  app.notFound((context) => {
    const text = 'No Shoot of this name has the extension shoot-flux, or your rights do not reach it.';
    return context.html(messagePage(context.var.view, 'Not found', text), 404);
  });
  app.onError((error, context) => {
    onFailed(errorMessage(error));
    const what =
      error instanceof ForbiddenError
        ? 'The credentials of this page lack a right in the garden. The log names it.'
        : 'The garden does not answer; try again in a minute. The log says why.';
    return context.text(`${what}\n`, 503);
  });
  return app;
}

type Environment = { Bindings: HttpBindings; Variables: { view: View; who: Identity | undefined } };

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

const MOST_GROUPS = 1000;

/** Names of Kubernetes itself are not taken from a proxy: nobody logs in as `system:masters`. */
const isForeign = (name: string) => name !== '' && !name.startsWith('system:');

function identityIn({ env }: Context<Environment>, names: NonNullable<PageOptions['identity']>): Identity | undefined {
  const valuesOf = (header = '') => env.incoming.headersDistinct[header.toLowerCase()] ?? [];
  const [user = '', ...others] = valuesOf(names.userHeader);
  // A proxy that adds its header to that of the browser does not say who looks.
  if (!isForeign(user.trim()) || others.length > 0) return undefined;
  const groups = valuesOf(names.groupsHeader).flatMap((value) => value.split(',').map((group) => group.trim()));
  return { user: user.trim(), groups: groups.filter(isForeign).slice(0, MOST_GROUPS) };
}
