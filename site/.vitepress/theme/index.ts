/** VitePress's theme in the font and the colours of the page (web/src/style.css). */
import "@fontsource-variable/geist";
import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
