/** What `@react-native-firebase` asks React Native for outside of a device. */
import { EventEmitter as Events } from "node:events";

export const Platform = { OS: "web", select: (options: Record<string, unknown>) => options.default };
export const TurboModuleRegistry = { get: () => null, getEnforcing: () => null };
export const NativeModules = {};

class Emitter extends Events {
  addListener(name: string, listener: (...args: unknown[]) => void): this & { remove(): void } {
    super.addListener(name, listener);
    return Object.assign(Object.create(this), { remove: () => this.removeListener(name, listener) });
  }
}

export const DeviceEventEmitter = new Emitter();
export class NativeEventEmitter {
  addListener(name: string, listener: (...args: unknown[]) => void): { remove(): void } {
    return DeviceEventEmitter.addListener(name, listener);
  }
}
export class AppRegistry {}
export default Emitter;
