import { Component, InjectionToken, inject } from "@angular/core";
import type { Firestore } from "firebase/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { counterSignal } from "./counterSignal";

export const FIRESTORE = new InjectionToken<Firestore>("Firestore");

@Component({
  selector: "app-views",
  template: `<button (click)="increment()">{{ state().total ?? "…" }}</button>`,
})
export class ViewsComponent {
  private readonly views = counter(inject(FIRESTORE), "views:angular");
  protected readonly state = counterSignal(this.views);

  protected increment(): void {
    incrementCounter(this.views);
  }
}
