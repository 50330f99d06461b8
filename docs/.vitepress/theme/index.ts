import theme from 'vitepress/theme';
// After the theme, whose rules it replaces.
import './style.css';

export default theme;
