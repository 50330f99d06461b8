import { hash } from 'node:crypto';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { etag } from 'hono/etag';
import { secureHeaders } from 'hono/secure-headers';
import { closeServer, listen } from '../listen.ts';
import { script, style } from './assets.ts';
import { facets, projectOf, type Query, queryText, readQuery } from './query.ts';
import { countsPage, type Links, listPage, messagePage, shootPage, type View } from './render.ts';
import type { Summary } from './summary.ts';

/** How a page is served. */
export interface PageOptions {
  summary: Summary;
  port: number;
  host: string;
}

const name = (text: string, ending: string) => `page-${hash('sha256', text).slice(0, 12)}.${ending}`;

const assets = {
  [name(style, 'css')]: { type: 'text/css', text: style },
  [name(script, 'js')]: { type: 'text/javascript', text: script },
};

const links: Links = {
  list: (query) => `./${queryText(query)}`,
  shoot: ({ namespace, name }) => `shoot?${new URLSearchParams({ project: projectOf(namespace), name })}`,
  counts: (facet, page) => `counts?${new URLSearchParams({ by: facet, page: String(page) })}`,
  style: name(style, 'css'),
  script: name(script, 'js'),
};

/** Serves the page over HTTP. */
export async function servePage(options: PageOptions) {
  const server = createAdaptorServer({ fetch: pageApp(options).fetch, overrideGlobalObjects: false }) as Server;
  const port = await listen(server, options.port, options.host);
  return { port, stop: () => closeServer(server, 1000) };
}

function pageApp({ summary }: PageOptions): Hono {
  const app = new Hono();
  const view = (): View => ({ snapshot: summary.latest(), links, now: new Date() });
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        ...{ styleSrc: ["'self'"], scriptSrc: ["'self'"], connectSrc: ["'self'"], imgSrc: ['data:'] },
        ...{ formAction: ["'self'"], baseUri: ["'none'"], frameAncestors: ["'none'"] },
      },
      xFrameOptions: 'DENY',
      // Whoever terminates TLS decides about it.
      strictTransportSecurity: false,
    }),
  );
  app.get('/:asset{page-.+}', (context) => {
    const asset = assets[context.req.param('asset')];
    if (asset === undefined) return context.notFound();
    return context.body(asset.text, 200, {
      'content-type': `${asset.type}; charset=utf-8`,
      'cache-control': 'public, max-age=31536000, immutable',
    });
  });
  app.use(async (context, next) => {
    await next();
    context.header('cache-control', 'no-store');
  });
  app.use(etag());
  app.get('/', (context) => context.html(listPage(view(), queryOf(context))));
  app.get('/counts', (context) => {
    const facet = facets.find((facet) => facet === context.req.query('by')) ?? 'project';
    return context.html(countsPage(view(), facet, queryOf(context).page));
  });
  app.get('/shoot', (context) => {
    const { project, name } = context.req.query();
    const found = view().snapshot.shoots.find((shoot) => shoot.name === name && projectOf(shoot.namespace) === project);
    if (found === undefined) return missing(context);
    return context.html(shootPage(view(), found, { entries: [] }));
  });
  const missing = (context: Context) =>
    context.html(
      messagePage(view(), 'Not found', 'There is no such Shoot with the extension shoot-flux, or you may not see it.'),
      404,
    );
  app.notFound(missing);
  return app;
}

const queryOf = (context: Context): Query => readQuery(new URL(context.req.url).searchParams);
