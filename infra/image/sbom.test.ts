import { expect, it } from 'vitest';
import { type Bom, type Component, imageBom } from './sbom.ts';

const component = (name: string, version = '1.0.0'): Component => ({
  ...{ type: 'library', name, version },
  ...{ purl: `pkg:npm/${name}@${version}`, 'bom-ref': `${name}@${version}` },
});

const npm: Bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  serialNumber: 'urn:uuid:0',
  version: 1,
  metadata: { timestamp: '2026-01-02T03:04:05Z', component: { ...component('shoot-flux'), name: 'checkout' } },
  components: [component('used'), component('used', '2.0.0'), component('unused')],
  dependencies: [
    { ref: 'shoot-flux@1.0.0', dependsOn: ['used@1.0.0', 'unused@1.0.0'] },
    { ref: 'used@1.0.0', dependsOn: ['unused@1.0.0'] },
    { ref: 'unused@1.0.0', dependsOn: [] },
  ],
};

const image = {
  node: { node: '24.0.0', openssl: '3.5.0', nghttp3: '', modules: '137' },
  bases: ['amd64', 'arm64'].map((platform) => ({
    system: 'debian-12',
    packages: [
      { name: 'libstdc++6', version: '12.2.0-14+deb12u1', architecture: platform },
      { name: 'tzdata', version: '2026a', architecture: 'all' },
    ],
  })),
};

it('names what is in the image, of each platform, and nothing else', () => {
  const { components, dependencies, metadata } = imageBom(npm, [{ name: 'used', version: '1.0.0' }], image);
  expect(components.map(({ purl }) => purl)).toEqual([
    'pkg:npm/used@1.0.0',
    'pkg:generic/node@24.0.0',
    'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12',
    'pkg:deb/debian/tzdata@2026a?arch=all&distro=debian-12',
    'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=arm64&distro=debian-12',
  ]);
  expect(components[1]?.components).toMatchObject([{ name: 'openssl', version: '3.5.0' }]);
  expect(dependencies.slice(0, 2)).toEqual([
    { ref: 'shoot-flux@1.0.0', dependsOn: ['used@1.0.0'] },
    { ref: 'used@1.0.0', dependsOn: [] },
  ]);
  expect(metadata.component).toMatchObject({ type: 'container', name: 'shoot-flux' });
});

it('has neither a random number nor a time', () => {
  const text = JSON.stringify(imageBom(npm, [], image));
  expect(text).not.toContain('urn:uuid');
  expect(text).not.toContain('2026-01-02');
});

it('refuses a package that the lock file does not have', () => {
  expect(() => imageBom(npm, [{ name: 'used', version: '3.0.0' }], image)).toThrow(
    'The bundle contains used@3.0.0, which the lock file does not have.',
  );
});
