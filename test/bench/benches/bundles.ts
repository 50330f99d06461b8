import { bundleFunction, limitsOf } from '../../../infra/bundle.ts';
import { findAllDefinitions } from '../../../infra/functions.ts';
import { importMilliseconds } from '../../../infra/import-time.ts';
import { type Bench, bench } from '../bench.ts';

const RUNS = 9;

/** The size of each function on Lambda, and the time that a cold start takes to import it. */
export async function bundleBenches(): Promise<Bench[]> {
  const definitions = await findAllDefinitions();
  return definitions.map((definition) => {
    const limits = limitsOf(definition);
    return bench(
      `bundle ${definition.name}`,
      {
        size: { what: `bundle ${definition.name}: entry and static imports`, unit: 'KB', atMost: limits.kb },
        import: { what: `bundle ${definition.name}: import over bare node`, unit: 'ms', atMost: limits.milliseconds },
      },
      async () => {
        const bundle = await bundleFunction(definition);
        return {
          size: { value: bundle.entryKb, note: `and ${bundle.lazyKb.toFixed(0)} KB lazy` },
          import: { value: await importMilliseconds(bundle.entry, RUNS), note: `median of ${RUNS}` },
        };
      },
    );
  });
}
