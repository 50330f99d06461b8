import { type Landscape, landscapes } from './assumptions.ts';
import { lambdaPerHour, type Stack } from './aws.ts';
import { type Bill, billsOf, type Way } from './bills.ts';
import type { Pods } from './clusters.ts';
import { type Activity, type ActivityName, activities, activityTexts, measureTexts, usage } from './inputs.ts';
import { model } from './model.ts';
import { prices } from './prices.ts';
import { stackOf } from './stack.ts';
import { apiRequests, workPerHour } from './work.ts';

const ways: Record<Way, string> = {
  deployment: 'One Deployment per seed',
  aws: 'AWS Lambda and SQS',
  knative: 'Knative',
};

interface Column {
  landscape: Landscape;
  stack: Stack;
  bills: Record<Way, Bill>;
  work: Activity;
}

/** The tables of docs/choosing.md that the model computes. */
export interface CostTables {
  /** What each way costs in a month. */
  bills: string;
  /** What AWS bills for. */
  awsItems: string;
  /** What the landscapes cause, and which Pods they need. */
  work: string;
  /** What each activity causes. */
  activities: string;
  /** What processes and Lambdas need. */
  usage: string;
  /** List prices. */
  prices: string;
}

/** Computes the tables for all landscapes. */
export async function costTables(): Promise<CostTables> {
  const columns = await Promise.all(landscapes.map(columnOf));
  return {
    bills: billTable(columns),
    awsItems: awsTable(columns),
    work: workTable(columns),
    activities: activityTable(),
    usage: usageTable(),
    prices: priceTable(),
  };
}

async function columnOf(landscape: Landscape): Promise<Column> {
  const stack = await stackOf(landscape.seeds);
  const work = workPerHour(landscape, model.activities, model.assumptions);
  return { landscape, stack, bills: billsOf(landscape, stack), work };
}

function billTable(columns: Column[]): string {
  const rows = Object.entries(ways).map(([way, text]) => [
    text,
    ...columns.map(({ bills, landscape: { shoots } }) => {
      const { usdPerMonth } = bills[way as Way];
      return `${usd(usdPerMonth)} (${usd(usdPerMonth / shoots)})`;
    }),
  ]);
  return table(['USD in a month (for each Shoot)', ...columns.map(heading)], rows);
}

function awsTable(columns: Column[]): string {
  const items = columns[0]?.bills.aws.items ?? [];
  const rows = items.map(({ what }, index) => [
    what,
    ...columns.map(({ bills }) => usd(bills.aws.items[index]?.usdPerMonth ?? 0)),
  ]);
  return table(['USD in a month', ...columns.map(heading)], rows);
}

function workTable(columns: Column[]): string {
  const row = (what: string, of: (column: Column) => number) => [what, ...columns.map((column) => amount(of(column)))];
  const perShoot = (what: string, of: (column: Column) => number) =>
    row(`${what}, for each Shoot and hour`, (column) => of(column) / column.landscape.shoots);
  const { lambdaMb } = model.assumptions;
  return table(
    ['', ...columns.map(heading)],
    [
      perShoot('API requests', ({ work }) => apiRequests(work)),
      perShoot('messages in SQS', ({ work }) => work.messages),
      perShoot('CloudEvents on Knative', ({ work }) => work.events),
      perShoot('invocations of Lambdas', ({ work }) => work.invocations),
      perShoot('milliseconds of Lambdas', ({ landscape, work, stack }) => {
        const { gbSeconds } = lambdaPerHour(landscape, work, stack, model);
        return (gbSeconds * 1000) / (lambdaMb / 1024);
      }),
      ...wayRows('MB of memory for each Shoot', columns, ({ memoryGb }, { shoots }) =>
        amount((memoryGb * 1000) / shoots),
      ),
      ...wayRows('Pods / vCPUs / GB of memory', columns, ({ pods, vcpus, memoryGb }) =>
        [pods, vcpus, memoryGb].map(amount).join(' / '),
      ),
    ],
  );
}

/** One row for each way. */
function wayRows(what: string, columns: Column[], cell: (pods: Pods, landscape: Landscape) => string): string[][] {
  return Object.entries(ways).map(([way, text]) => [
    `${what}: ${text}`,
    ...columns.map(({ bills, landscape }) => cell(bills[way as Way].pods, landscape)),
  ]);
}

function activityTable(): string {
  const measures = Object.keys(measureTexts) as (keyof Activity)[];
  const rows = (Object.keys(activities) as ActivityName[]).map((name) => [
    activityTexts[name],
    ...measures.map((measure) => amount(activities[name][measure])),
  ]);
  return table(['for each Shoot, at most', ...measures.map((measure) => measureTexts[measure].what)], rows);
}

function usageTable(): string {
  const rows = Object.values(usage).map(({ value, unit, bench, line }) => [line, `${amount(value)} ${unit}`, bench]);
  return table(['line of the bench', 'at most', 'bench'], rows);
}

function priceTable(): string {
  const rows = Object.values(prices).map(({ usd, per, unit }) => [
    per === 1 ? unit : `${amount(per)} ${unit}`,
    // The shortest form without an exponent.
    usd.toFixed(10).replace(/0+$/, ''),
  ]);
  return table(['for', 'USD'], rows);
}

function heading({ landscape: { shoots, seeds } }: Column): string {
  return `${amount(shoots)} Shoots, ${amount(seeds)} ${seeds === 1 ? 'seed' : 'seeds'}`;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|---|${'--:|'.repeat(head.length - 1)}`, ...rows.map(line), ''].join('\n');
}

/** No cost is exact to more than two digits. */
function usd(value: number): string {
  if (value < 0.0005) return '0';
  return amount(Number(value.toPrecision(2)));
}

/** Rounds below a hundred to two digits. */
function amount(value: number): string {
  const rounded = value < 100 ? Number(value.toPrecision(2)) : value;
  return rounded.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 6 : 0 });
}
