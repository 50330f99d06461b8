import { expect, it } from 'vitest';
import { effectiveConfig } from '../config/effective-config.ts';
import { issueText } from '../errors.ts';
import { ipv6Warnings } from './ipv6-only.ts';

const why =
  'is on ghcr.io, which has no IPv6 addresses, and the Shoot has no others; name a mirror, unless the network of the Shoot translates addresses';
const shootWith = (...ipFamilies: string[]) => ({ metadata: { name: 'bar' }, spec: { networking: { ipFamilies } } });
const warned = (flux: object, objects: object[], shoot: object = shootWith('IPv6')) => {
  const spec = { interval: '5m', url: 'oci://ghcr.io/org/fleet', ref: { tag: 'latest' } };
  const kustomization = { template: { spec: { path: './' } } };
  const source = { template: { kind: 'OCIRepository', spec } };
  const config = effectiveConfig({ providerConfig: { flux, source, kustomization, objects } });
  return ipv6Warnings(config, shoot as never).map(issueText);
};
const objects = [
  { kind: 'HelmRepository', metadata: { name: 'a' }, spec: { interval: '5m', type: 'oci', url: 'oci://ghcr.io/org' } },
  { kind: 'HelmRepository', metadata: { name: 'b' }, spec: { interval: '5m', url: 'https://example.com/ghcr.io/' } },
  { kind: 'ImageRepository', metadata: { name: 'c' }, spec: { interval: '5m', image: 'ghcr.io/org/app' } },
];

it('names each image and source on ghcr.io that a Shoot with IPv6 alone does not reach', () => {
  expect(warned({ componentsExtra: ['image-reflector-controller'] }, objects)).toEqual([
    `configuration: flux.registry "ghcr.io/fluxcd" ${why}`,
    `providerConfig: source.template.spec.url "oci://ghcr.io/org/fleet" ${why}`,
    `providerConfig: objects[0].spec.url "oci://ghcr.io/org" ${why}`,
    `providerConfig: objects[2].spec.image "ghcr.io/org/app" ${why}`,
  ]);
});

it('says nothing of a mirror', () => {
  expect(warned({ registry: 'registry.example.com/ghcr.io' }, [])).toEqual([
    `providerConfig: source.template.spec.url "oci://ghcr.io/org/fleet" ${why}`,
  ]);
});

it.each([
  ['IPv4', shootWith('IPv4')],
  ['both families', shootWith('IPv4', 'IPv6')],
  ['no families', { metadata: { name: 'bar' }, spec: { networking: {} } }],
  ['families of another type', { metadata: { name: 'bar' }, spec: { networking: { ipFamilies: 'IPv6' } } }],
  ['nothing but a name', { metadata: { name: 'bar' } }],
])('says nothing about a Shoot with %s', (_, shoot) => {
  expect(warned({}, [], shoot)).toEqual([]);
});
