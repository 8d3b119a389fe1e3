/** A voice of the embedded engine. */
export interface FliteVoice {
  readonly gender: 'FEMALE' | 'MALE';
  readonly accent: 'american' | 'scottish';
  /** flite's own `duration_stretch` of the voice. */
  readonly stretch: number;
}

/**
 * The English voices of flite 2.3; `kal` and `kal16` are the same speaker at 8 and 16 kHz. `awb_time` is left out: it can
 * only tell the time.
 */
export const FLITE_VOICES = {
  slt: { gender: 'FEMALE', accent: 'american', stretch: 1 },
  rms: { gender: 'MALE', accent: 'american', stretch: 1 },
  awb: { gender: 'MALE', accent: 'scottish', stretch: 1 },
  kal: { gender: 'MALE', accent: 'american', stretch: 1.1 },
  kal16: { gender: 'MALE', accent: 'american', stretch: 1.1 },
} as const satisfies Record<string, FliteVoice>;

export type FliteVoiceName = keyof typeof FLITE_VOICES;

export const isFliteVoice = (name: string): name is FliteVoiceName => Object.hasOwn(FLITE_VOICES, name);
