import { looksToRead } from './alarms.repository.js';

it('reads fewer looks of a schedule with thousands of cases, but as many as alarms need', () => {
  expect([0, 20, 1_000, 2_000, 10_000, 120_000].map(looksToRead)).toEqual([260, 260, 260, 200, 40, 40]);
});
