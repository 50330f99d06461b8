import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';

/** What is known to be vulnerable in the image, and does not affect shoot-flux. docs/release.md says how to add one. */
export const statements: readonly Statement[] = [];

/** One vulnerability of one component. */
export interface Statement {
  /** Its name in the scan, such as `CVE-2026-12345`. */
  vulnerability: string;
  /** The component's `purl` in the bill of materials; without version and architecture it means all of them. */
  component: string;
  /** A label of OpenVEX. */
  justification:
    | 'component_not_present'
    | 'vulnerable_code_not_present'
    | 'vulnerable_code_not_in_execute_path'
    | 'vulnerable_code_cannot_be_controlled_by_adversary'
    | 'inline_mitigations_already_exist';
  /** Why, in a sentence that others can check. */
  reason: string;
  /** The day of the examination, such as `2026-11-27`. */
  date: string;
}

/** Name of the file in a release. */
export const VEX = 'shoot-flux.openvex.json';

/** Any digest and any registry: also a mirror's copy of the image. */
const PRODUCT = 'pkg:oci/shoot-flux';

/** Returns the document of OpenVEX, by its name. There is none without statements, because a document needs one. */
export function vexFile(statements: readonly Statement[]): Record<string, string> {
  if (statements.length === 0) return {};
  const written = statements.map(({ vulnerability, component, justification, reason, date }) => ({
    vulnerability: { name: vulnerability },
    timestamp: new Date(date).toISOString(),
    products: [{ '@id': PRODUCT, subcomponents: [{ '@id': component }] }],
    ...{ status: 'not_affected', justification, impact_statement: reason },
  }));
  const document = {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    // Other statements make another document, so that its version stays 1.
    '@id': `https://openvex.dev/docs/shoot-flux/${hash('sha256', JSON.stringify(written))}`,
    author: 'The maintainers of shoot-flux',
    timestamp: written
      .map(({ timestamp }) => timestamp)
      .sort()
      .at(-1),
    ...{ version: 1, statements: written },
  };
  return { [VEX]: `${JSON.stringify(document, null, 2)}\n` };
}

// The scan writes it without the packages of npm.
if (import.meta.main) {
  for (const [name, text] of Object.entries(vexFile(statements))) await writeFile(name, text);
}
