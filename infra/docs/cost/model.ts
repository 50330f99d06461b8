import { assumptions, reserved } from './assumptions.ts';
import { type Activity, type ActivityName, activities, type Input, usage } from './inputs.ts';
import { type Price, prices } from './prices.ts';

/** Everything from which costs follow. */
export interface Model {
  activities: Record<ActivityName, Activity>;
  usage: Record<keyof typeof usage, Input>;
  assumptions: typeof assumptions;
  reserved: typeof reserved;
  prices: Record<keyof typeof prices, Price>;
}

export const model: Model = { activities, usage, assumptions, reserved, prices };
