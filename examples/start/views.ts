import { getFirestore } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";

const views = counter(getFirestore(), "views:home");

onCounter(views, ({ total }) => console.log(`${total} views`));
await incrementCounter(views);
