/** What the sample uses of React Native, which is not installed here. */
declare module "react-native" {
  import type { ReactNode } from "react";

  interface PressableProps {
    accessibilityRole: "button";
    accessibilityState: { disabled?: boolean; selected?: boolean };
    disabled: boolean;
    onPress: () => void;
    children: ReactNode;
  }

  export function Pressable(props: PressableProps): ReactNode;
  export function Text(props: { children: ReactNode }): ReactNode;
}
