import { EnvError, makeValidator } from 'envalid';

export const wholeNumber = (lowest: number, highest: number) =>
  makeValidator<number>((input) => {
    const value = Number(input);
    if (!/^\d+$/.test(input) || value < lowest || value > highest) {
      throw new EnvError(`must be a whole number from ${lowest} to ${highest}`);
    }
    return value;
  })();
