import { describe, expect, it } from 'vitest';
import { kubeconfigOf, sendJson, startTlsServer, statusBody } from '../../shared/kube/testing.ts';
import { files } from '../cli/testing.ts';
import { access, skewOf } from './access.ts';

describe('clock', () => {
  const at = (time: string) => new Date(`2026-01-01T${time}Z`);
  const said = (time: string) => at(time).toUTCString();

  it.each([
    ['equal clocks', '12:00:00', '✔', 'differ by less than 30 s'],
    ['a clock that is 30 s ahead', '12:00:32', '✔', 'differ by less than 30 s'],
    ['a clock that is ahead', '12:00:33', '✗', '31 s ahead of this one'],
    ['a clock within the second', '11:59:29', '✔', 'differ by less than 30 s'],
    ['a clock that is behind', '11:58:59', '✗', '60 s behind this one'],
  ])('takes %s for what they are', (_, date, verdict, sentence) => {
    const skew = skewOf(said(date), at('12:00:00'), at('12:00:02'));
    expect(skew).toMatchObject({ verdict, sentence: expect.stringContaining(sentence) });
  });

  it('does not count the time that the answer took', () => {
    expect(skewOf(said('12:00:50'), at('12:00:00'), at('12:01:40')).verdict).toBe('✔');
  });

  it('comes from the answer of the API server, also of one that does not know the review', async () => {
    await using server = await startTlsServer(({ url }, response) => {
      const date = new Date(Date.now() + 3_600_000).toUTCString();
      if (url.pathname === '/version') sendJson(response, 200, { gitVersion: 'v1.27.0' }, { date });
      else sendJson(response, 404, statusBody(404, 'NotFound', 'no such resource'), { date });
    });
    const { server: url, ca = '' } = server.connection;
    const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    await using written = await files({ kubeconfig: kubeconfigOf({ token: 'x' }, cluster) });
    const { items, patient } = await access('aws', written.paths.kubeconfig);
    patient?.kube.close();
    expect(items).toMatchObject([
      { check: 'credentials', verdict: '✔', sentence: 'Seed aws accepts the credentials' },
      { check: 'clock', verdict: '✗', sentence: expect.stringMatching(/^Its clock is 3\d{3} s ahead of this one/) },
    ]);
  });
});
