/** Invalid settings; the message has one line per setting, for administrators. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
