import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

/** Returns the anchor that GitHub makes of a heading. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/**
 * Makes links that work on GitHub work on the site: those to pages stay links to pages, those to other files lead to
 * `source`, for example `https://github.com/my-org/shoot-flux/blob/main/`, and without it are only text.
 */
export function adaptLinks(md: MarkdownRenderer, source: string | undefined): void {
  md.core.ruler.after('inline', 'adapt-links', ({ tokens, env }) => {
    let isText = false;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_close' && isText) token.tag = 'span';
      if (token.type !== 'link_open') continue;
      const [, path = '', anchor = ''] = /^([^#]*)(.*)$/.exec(token.attrGet('href') ?? '') ?? [];
      const isOther = path !== '' && !/^[a-z]+:|\.md$/.test(path);
      isText = isOther && source === undefined;
      if (isText) Object.assign(token, { tag: 'span', attrs: [] });
      else if (isOther) token.attrSet('href', source + posix.join(posix.dirname(env.relativePath), path) + anchor);
      else token.attrSet('href', path.replace(/README\.md$/, 'index.md') + anchor);
    }
  });
}

/** Returns the links of a site, built for the path `base`, whose page has no element with the anchor: `docs/a.html: b.html#c`. */
export async function brokenAnchors(folder: string, base: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.html'));
  const pages = new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')] as const)),
  );
  const isBroken = (from: string, path: string, anchor: string) => {
    const page = path === '' ? from : path.startsWith(base) ? path.slice(base.length) : join(dirname(from), path);
    return !pages.get(page.replace(/(^|\/)$/, '$1index.html'))?.includes(` id="${decodeURIComponent(anchor)}"`);
  };
  return [...pages].flatMap(([from, html]) =>
    [...html.matchAll(/<a [^>]*?href="(?![a-z]+:)([^"#]*)#([^"]+)"/g)]
      .filter(([, path = '', anchor = '']) => isBroken(from, path, anchor))
      .map(([, path, anchor]) => `${from}: ${path}#${anchor}`),
  );
}
