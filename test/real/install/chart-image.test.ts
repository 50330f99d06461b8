import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { renderChart } from './helm.ts';

const namespace = 'other';
const digest = `sha256:${'0'.repeat(64)}`;
const image = { repository: 'registry.example.com/shoot-flux', tag: 'v1' };
const vectorOf = (...images: unknown[]) => ({ images });

describe.each(['shoot-flux', 'shoot-flux-admission/charts/runtime'])('the image of the chart %s', (chart) => {
  async function imageOf(imageVectorOverwrite: unknown, more: object = {}): Promise<unknown> {
    const values = { image: { ...image, ...more }, imageVectorOverwrite };
    const objects = await renderChart({ chart, namespace, values });
    const deployment = objects.find(({ kind }) => kind === 'Deployment');
    const spec = deployment?.spec as { template: { spec: { containers: { image: string }[] } } } | undefined;
    return spec?.template.spec.containers[0]?.image;
  }

  it('takes from the values what the entry of the image vector does not say', async () => {
    const entry = (more: object) => vectorOf({ name: 'shoot-flux', ...more });
    expect(await imageOf(entry({ tag: 'v9' }))).toBe('registry.example.com/shoot-flux:v9');
    expect(await imageOf(entry({ tag: 'v9' }), { digest })).toBe('registry.example.com/shoot-flux:v9');
    expect(await imageOf(entry({ tag: digest }))).toBe(`registry.example.com/shoot-flux@${digest}`);
    expect(await imageOf(entry({ repository: 'mirror/a' }))).toBe('mirror/a:v1');
    const [first, last] = ['v8', 'v9'].map((tag) => ({ name: 'shoot-flux', tag }));
    expect(await imageOf(vectorOf(first, last))).toBe('registry.example.com/shoot-flux:v9');
    expect(await imageOf(entry({ repository: 'mirror/a' }), { digest })).toBe(`mirror/a:v1@${digest}`);
    expect(await imageOf(entry({ ref: 'mirror/a:v3', version: 'v3' }))).toBe('mirror/a:v3');
  });

  it('is that of the values without an entry of its own', async () => {
    for (const vector of ['', {}, vectorOf(), vectorOf({ name: 'other', tag: 'v9' })])
      expect(await imageOf(vector)).toBe('registry.example.com/shoot-flux:v1');
  });

  it.each([
    ['broken YAML', 'images: [', 'imageVectorOverwrite is not YAML with the key images: '],
    ['a list', stringify([{ name: 'shoot-flux' }]), 'imageVectorOverwrite is not YAML with the key images: '],
    ['a text', 'shoot-flux', 'imageVectorOverwrite is not YAML with the key images: '],
    ['another key', { image: [] }, 'imageVectorOverwrite has no key images, which holds the list of images'],
    ['no list', { images: { name: 'shoot-flux' } }, 'imageVectorOverwrite.images is not a list of images'],
    ['nothing', { images: null }, 'imageVectorOverwrite.images is not a list of images'],
    ['an entry of another form', vectorOf('shoot-flux'), 'imageVectorOverwrite.images has an entry without a name'],
    ['an entry without a name', vectorOf({ tag: 'v9' }), 'imageVectorOverwrite.images has an entry without a name'],
    [
      'a tag that is a number',
      vectorOf({ name: 'shoot-flux', tag: 1.2 }),
      'imageVectorOverwrite: tag of the image shoot-flux is not a text; quote it',
    ],
    [
      'nothing that names an image',
      vectorOf({ name: 'shoot-flux' }),
      'imageVectorOverwrite: the image shoot-flux has none of repository, tag and ref',
    ],
  ])('is refused with %s in place of an image vector', async (_, vector, sentence) => {
    await expect(imageOf(vector)).rejects.toThrow(sentence);
  });
});
